import { expect, it } from 'vitest';
import { imageName } from './process-runtime.ts';

it.each([
  ['semaphore-policy', 'semaphore-policy'],
  ['semaphore-policy:0.1.0', 'semaphore-policy'],
  ['registry.example:5000/team/semaphore-policy', 'semaphore-policy'],
  ['registry.example:5000/team/semaphore-policy:0.1.0@sha256:0123', 'semaphore-policy'],
])('the name of %s is %s', (image, want) => {
  expect(imageName(image)).toBe(want);
});
