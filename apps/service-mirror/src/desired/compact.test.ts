import { expect, it } from 'vitest';
import { sharedConditions, sharedTexts } from './compact.ts';

it('equal conditions are one object, and others are not', () => {
  const ready = { ready: true, serving: true, terminating: false };
  expect(sharedConditions(ready)).toEqual(ready);
  expect(sharedConditions(ready)).toBe(sharedConditions({ ...ready }));
  expect(sharedConditions({ ...ready, ready: undefined })).toEqual({ ...ready, ready: undefined });
  expect(sharedConditions({ ...ready, ready: false })).toEqual({ ...ready, ready: false });
});

it('texts are what they were', () => {
  const shared = sharedTexts();
  expect(['Pod', 'Node', 'Pod', ''].map(shared)).toEqual(['Pod', 'Node', 'Pod', '']);
});
