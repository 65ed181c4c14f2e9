import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** A declaration of an error code: a field, or a member of a union. */
const DECLARATION = /(?:readonly code = |^ {2}\| )'([A-Z_]+)'/gm;

/** Users don't see the codes of packages for tests. */
const exclude = ['**/*.test.ts', 'packages/{embedded-apiserver,eventually,fault-proxy,testkit,testnet}/**'];

const declared = globSync('{apps,packages}/*/src/**/*.ts', { exclude })
  .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(DECLARATION)])
  .map(([, code]) => code!);

const documented = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^- `([A-Z_]+)`/gm)].map(([, code]) => code!);

describe('docs/errors.md', () => {
  it('has every code, and no other', () => {
    expect(documented.toSorted()).toEqual([...new Set(declared)].toSorted());
  });

  it('has each once', () => {
    expect(documented).toHaveLength(new Set(documented).size);
  });
});
