import { expect, it } from 'vitest';
import { sharedConditions, sharedTexts } from './compact.ts';

it('returns one object for equal conditions', () => {
  const ready = { ready: true, serving: true, terminating: false };
  expect(sharedConditions(ready)).toEqual(ready);
  expect(sharedConditions(ready)).toBe(sharedConditions({ ...ready }));
  expect(sharedConditions({ ...ready, ready: undefined })).toEqual({ ...ready, ready: undefined });
  expect(sharedConditions({ ...ready, ready: false })).toEqual({ ...ready, ready: false });
});

it('returns texts unchanged', () => {
  const shared = sharedTexts();
  expect(['Pod', 'Node', 'Pod', ''].map(shared)).toEqual(['Pod', 'Node', 'Pod', '']);
});
