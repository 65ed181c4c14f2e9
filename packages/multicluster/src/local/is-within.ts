/** Whether a promise settles in time. */
export async function isWithin(ms: number, answer: Promise<unknown>): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, ms, false);
  const settled = Promise.allSettled([answer]).then(() => true as const);
  const isInTime = await Promise.race([settled, over]);
  clearTimeout(timer);
  return isInTime;
}
