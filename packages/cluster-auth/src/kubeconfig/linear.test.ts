import { superlinearAt } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { ClusterAuthError } from '../errors.ts';
import { contextOf } from './context.ts';
import { mergeKubeconfigs } from './merge.ts';
import { parseKubeconfig } from './schema.ts';

const head = 'current-context: c\ncontexts: [{ name: c, context: { cluster: c, user: c } }]\n';

function lines(bytes: number, line: (i: string) => string): string {
  const count = Math.ceil(bytes / line('000000').length);
  return Array.from({ length: count }, (_, i) => line(String(i).padStart(6, '0'))).join('');
}

const read = (text: string): unknown => {
  try {
    return contextOf(mergeKubeconfigs([{ path: 'k', config: parseKubeconfig(text, 'k') }]));
  } catch (error) {
    if (error instanceof ClusterAuthError) return error;
    throw error;
  }
};

it.each([
  { name: 'keys', input: (bytes: number) => lines(bytes, (i) => `k${i}: v\n`) },
  { name: 'keys in JSON', input: (bytes: number) => `x: {${lines(bytes, (i) => `"k${i}":"v",`)}"z":0}` },
  {
    name: 'clusters',
    input: (bytes: number) =>
      `clusters:\n${lines(bytes, (i) => `- { name: c${i}, cluster: { server: "https://c" } }\n`)}`,
  },
  { name: 'aliases', input: (bytes: number) => `x:\n${lines(bytes, (i) => `- &a${i} x\n- *a${i}\n`)}` },
  {
    name: 'as many aliases as are allowed',
    input: (bytes: number) => `x:\n${lines(bytes, (i) => `- &a${i} x\n- ${Number(i) < 1_000 ? '*' : 'x'}a${i}\n`)}`,
  },
])('a kubeconfig of $name costs by its size, up to 1 MB', ({ input }) => {
  expect(superlinearAt({ input: (bytes) => head + input(bytes), work: read })).toBeUndefined();
});
