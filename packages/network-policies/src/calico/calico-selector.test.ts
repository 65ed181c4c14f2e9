import { expect, it } from 'vitest';
import { parseCalicoSelector } from './calico-selector.ts';

const labels = { app: 'web', 'x.io/tier': 'front' };

it.each([
  ["app == 'web'", true],
  ['app == "db"', false],
  ["app != 'db'", true],
  ["other != 'db'", true],
  ["app in { 'db', 'web' }", true],
  ["app not in {'db'}", true],
  ["other in {'db'}", false],
  ["other not in {'db'}", true],
  ["x.io/tier contains 'ron'", true],
  ["x.io/tier starts with 'fr'", true],
  ["x.io/tier ends with 'fr'", false],
  ["other contains ''", false],
  ['has(x.io/tier)', true],
  ['!has(app)', false],
  ['!has( other )', true],
  ['all()', true],
  ['global()', false],
  ["app == 'db' || has(app) && !has(other)", true],
  ["(app == 'db' || has(app)) && has(other)", false],
  ["!(app == 'web' || has(other))", false],
  ["has == 'x' || in-app != 'x'", true],
])('%s matches: %s', (selector, want) => {
  expect(parseCalicoSelector(selector, { all: true, global: false })?.matches(labels)).toBe(want);
});

it.each([
  '',
  'app',
  "app = 'web'",
  "app == 'web",
  'has()x',
  "app == 'a' app == 'b'",
  '(all()',
  "app in {'a'",
  '&& all()',
])('%j is not a selector', (selector) => {
  expect(parseCalicoSelector(selector, { all: true, global: true })).toBeUndefined();
});

it('names its keys', () => {
  const selector = parseCalicoSelector("!has(a) && (b == 'x' || c in {'y'})", { all: true, global: true });
  expect([...selector!.keys]).toEqual(['a', 'b', 'c']);
});
