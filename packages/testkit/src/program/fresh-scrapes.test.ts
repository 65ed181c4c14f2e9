import { expect, it } from 'vitest';
import { freshScrapes } from './fresh-scrapes.ts';

/** A program that collects metrics at most once a second, and their value. */
function program() {
  const state = { now: 0, requests: 0 };
  let kept = { text: '', untilMs: -Infinity };
  const scrape = async () => {
    state.requests += 1;
    if (performance.now() >= kept.untilMs) kept = { text: String(state.now), untilMs: performance.now() + 1_000 };
    return kept.text;
  };
  return { state, scrape };
}

it('returns current metrics, however soon after the last scrape', async () => {
  const { state, scrape } = program();
  const fresh = freshScrapes(scrape);
  expect(await fresh()).toBe('0');
  state.now = 1;
  expect(await fresh()).toBe('1');
});

it('shares a scrape that waits, but not one that was sent', async () => {
  const { state, scrape } = program();
  const fresh = freshScrapes(scrape);
  expect(await Promise.all([fresh(), fresh()])).toEqual(['0', '0']);
  state.now = 1;
  expect({ texts: await Promise.all([fresh(), fresh()]), requests: state.requests }).toEqual({
    texts: ['1', '1'],
    requests: 2,
  });
});
