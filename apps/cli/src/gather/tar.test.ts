import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileName } from './read.ts';
import { TAR_END, tarEntry } from './tar.ts';

const names = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('..', '.', '/', '../../etc/passwd', 'C:\\x', '~root', '-rf', 'a\nb', 'é'.repeat(300), ''),
);

it('has a path that leaves no folder, whatever clusters and Pods are called', () => {
  fc.assert(
    fc.property(names, names, fc.nat(999), fc.nat(24_999), (context, pod, nth, i) => {
      const path = `semaphore-gather/${nth}-${fileName(context)}/${i}-${fileName(pod)}.status.json`;
      expect(path).toMatch(/^semaphore-gather\/\d+-[\w.-]*\/\d+-[\w.-]+$/);
      expect(path.length).toBeLessThanOrEqual(100);
      const entry = tarEntry(path, pod, new Date(0));
      expect(entry.subarray(0, 100).toString('latin1').replaceAll('\0', '')).toBe(path);
    }),
  );
});

it('is what tar reads', () => {
  const archive = Buffer.concat([tarEntry('a/0-..', 'text', new Date(0)), TAR_END]);
  expect(execFileSync('tar', ['-xOf', '-', 'a/0-..'], { input: archive, encoding: 'utf8' })).toBe('text');
});
