import { expect, it } from 'vitest';
import { freshScrapes } from './fresh-scrapes.ts';

/** A program that collects once a second at most, and what it has in its metrics. */
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

it('gives what is so when it is asked for, however soon after another', async () => {
  const { state, scrape } = program();
  const fresh = freshScrapes(scrape);
  expect(await fresh()).toBe('0');
  state.now = 1;
  expect(await fresh()).toBe('1');
});

it('shares a scrape that has yet to be sent, and none that was', async () => {
  const { state, scrape } = program();
  const fresh = freshScrapes(scrape);
  expect(await Promise.all([fresh(), fresh()])).toEqual(['0', '0']);
  state.now = 1;
  expect({ texts: await Promise.all([fresh(), fresh()]), requests: state.requests }).toEqual({
    texts: ['1', '1'],
    requests: 2,
  });
});
