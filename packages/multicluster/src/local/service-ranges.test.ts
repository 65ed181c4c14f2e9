import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';
import { expect, it } from 'vitest';
import { localServiceRanges, rangesIn } from './service-ranges.ts';

const { signal } = new AbortController();

/** Reads the ranges of a server that gives these answers in turn. */
function asked(...answers: readonly unknown[]) {
  const lines: string[] = [];
  const line = (_: unknown, message: string) => void lines.push(message);
  const log: Logger = { trace: line, debug: line, info: line, warn: line, error: line };
  const left = [...answers];
  const getRaw = (): Promise<unknown> => {
    const answer = left.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const ranges = localServiceRanges({ getRaw }, { signal, log, retryMs: 1 }).then((all) => all.map(({ text }) => text));
  return { ranges, lines };
}

const refusal = (status: number) => new KubeApiError('GET failed', { status });

const list = {
  items: [{ spec: { cidrs: ['10.96.0.0/16', 'fd00:10:96::/112'] } }, { spec: { cidrs: ['10.97.0.0/16'] } }],
};

it('returns the ranges of all ServiceCIDRs', async () => {
  expect(await asked(list).ranges).toEqual(['10.96.0.0/16', 'fd00:10:96::/112', '10.97.0.0/16']);
});

it.each([403, 404])('returns no ranges after %i, and the log says how to name them', async (status) => {
  const { ranges, lines } = asked(refusal(status));
  expect(await ranges).toEqual([]);
  expect(lines).toEqual([
    'ServiceCIDRs of the local cluster cannot be read: name its Service ranges with -local-cidrs',
  ]);
});

it('retries after any other failure, as the ranges are unknown then', async () => {
  const { ranges } = asked(refusal(503), new Error('connection reset'), {}, list);
  expect(await ranges).toHaveLength(3);
});

it.each([{}, undefined, 'x', { items: {} }])('does not take %j for a list', (answer) => {
  expect(() => rangesIn(answer)).toThrow('not a ServiceCIDRList');
});

it.each([{}, null, { spec: {} }, { spec: { cidrs: [1, 'x', '10.0.0.0/33'] } }])('ignores an item like %j', (item) => {
  expect(rangesIn({ items: [item] })).toEqual([]);
});
