/**
 * Variables of a program whose clock is a minute ahead: a Pod is late one minute after it should be gone, and the API server
 * decides about that by its own clock.
 */
export const aMinuteAhead = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('const { now } = Date; Date.now = () => now() + 60_000;')}`,
};
