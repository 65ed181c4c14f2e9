import { describe, expect, it } from 'vitest';
import { cleanUp, cleanupConfirmation, type Removal } from './cleanup.ts';
import { ConfigError } from '@kube-semaphore/runtime';

const signal = new AbortController().signal;

/** Runs a cleanup of these objects; one can't be removed. @returns what it did */
async function run(
  names: readonly string[],
  { answer = true, broken = '' }: { answer?: boolean; broken?: string } = {},
) {
  const [said, asked, removed]: [string[], string[], string[]] = [[], [], []];
  const removals = names.map((name): Removal => ({
    line: `delete  ${name}`,
    carryOut: async () => {
      if (name === broken) throw new Error(`${name} is broken`);
      removed.push(name);
    },
  }));
  const confirm = async (question: string): Promise<boolean> => {
    asked.push(question);
    return answer;
  };
  const code = await cleanUp(
    removals,
    { cluster: 'c9', consequence: 'So be it.', confirm, print: (page) => said.push(...page.trimEnd().split('\n')) },
    { signal },
  ).catch((error: Error) => error.message);
  return { code, said, asked, removed };
}

describe('a cleanup', () => {
  it('prints what it will remove, asks once, and removes it in order', async () => {
    expect(await run(['b', 'a'])).toEqual({
      code: 0,
      said: ['delete  b', 'delete  a', 'Cleaned up cluster c9.'],
      asked: ['Make these 2 changes for cluster c9? So be it.'],
      removed: ['b', 'a'],
    });
  });

  it('removes nothing if the answer is no', async () => {
    expect(await run(['a'], { answer: false })).toMatchObject({ code: 1, said: ['delete  a'], removed: [] });
  });

  it('does not ask if there is nothing to remove', async () => {
    expect(await run([])).toEqual({ code: 0, said: ['Nothing to remove for cluster c9.'], asked: [], removed: [] });
  });

  it('fails with the first error, and does not claim success', async () => {
    expect(await run(['a', 'b', 'c'], { broken: 'b' })).toMatchObject({
      code: 'b is broken',
      said: ['delete  a', 'delete  b', 'delete  c'],
      removed: ['a'],
    });
  });
});

describe('cleanupConfirmation', () => {
  const profiles = [{ profile: 'fleet/third', cluster: 'c3' }];

  it.each([
    { cluster: 'c2', want: 'c2 is in the config: remove it there first' },
    { cluster: 'c3', want: 'c3 is in the inventory: remove its ClusterProfile fleet/third first' },
  ])('refuses $cluster, which is served, even without a question', ({ cluster, want }) => {
    expect(() => cleanupConfirmation({ cluster, served: ['c1', 'c2'], profiles, yes: true })).toThrow(
      new ConfigError(want),
    );
  });

  it('does not ask if that is not wanted', async () => {
    expect(await cleanupConfirmation({ cluster: 'c9', served: ['c1', 'c2'], profiles, yes: true })('?')).toBe(true);
  });
});
