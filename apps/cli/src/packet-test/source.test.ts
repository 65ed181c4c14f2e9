import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { ADVICE, sourceFailure } from './source.ts';

const own = ['10.2.0.9', 'fd00:2::9'];

describe('sourceFailure', () => {
  it.each([
    { name: 'the address of the Pod', seen: '10.2.0.9' },
    { name: 'its other address, in any spelling', seen: 'FD00:2:0::9' },
    { name: 'nothing, if the other Pod knows nothing', seen: null },
  ])('accepts $name', ({ seen }) => {
    expect(sourceFailure(seen, own)).toBeNull();
  });

  it('accepts any address of a Pod without known ones', () => {
    expect(sourceFailure('10.2.0.5', [])).toBeNull();
  });

  it.each([
    { seen: '10.2.0.5', want: "arrives from 10.2.0.5, not from the Pod's 10.2.0.9 or fd00:2::9: something replaces" },
    { seen: 'fd00:2::5', want: "arrives from fd00:2::5, not from the Pod's 10.2.0.9 or fd00:2::9: something replaces" },
    { seen: '', want: 'the other Pod doesn\'t say where it comes from: "" is not a valid IP address' },
    { seen: '10.2.0.9, 10.2.0.5', want: 'where it comes from: "10.2.0.9, 10.2.0.5" is not a valid IP address' },
    { seen: '\u001b[2J', want: '"\\u001b[2J" is not a valid IP address' },
    { seen: 'a'.repeat(1_000), want: `"${'a'.repeat(64)}"… is not a valid IP address` },
  ])('refuses $seen', ({ seen, want }) => {
    expect(sourceFailure(seen, own)).toContain(want);
  });
});

it('points to a heading of a page', () => {
  const [page = '', anchor] = ADVICE.replace('docs/', '').split('#');
  const headings = Array.from(docPage(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => heading);
  expect(headings.map((heading) => heading.toLowerCase().replaceAll(' ', '-'))).toContain(anchor);
});
