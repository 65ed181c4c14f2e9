import { KubeApiError } from '@kube-semaphore/kube-client';
import { Codec, clusterPropertyKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it, vi } from 'vitest';
import { ClusterPropertyObjects } from './cluster-properties.ts';

const running = { signal: new AbortController().signal };
const none = (): void => undefined;
const log = { trace: none, debug: none, info: none, warn: none, error: none };

const property = (name: string, value: string) =>
  new Codec(clusterPropertyKind).objectFromJson({
    apiVersion: 'about.k8s.io/v1beta1',
    kind: 'ClusterProperty',
    metadata: { name },
    spec: { value },
  });

/** The properties of c2, which answers what `answer` says. */
function ofC2(settings: { readonly global?: object } = { global: {} }) {
  const enqueueAll = vi.fn<() => void>();
  const answer = vi.fn<() => Promise<readonly (readonly [string, string])[]>>();
  const list = async () => ({ items: (await answer()).map(([name, value]) => property(name, value)), continue: '' });
  const objects = new ClusterPropertyObjects({
    settings: { global: undefined, mcs: undefined, local: { name: 'c1' }, ...settings } as never,
    remotes: { byName: new Map([['c2', {} as never]]) },
    log,
    enqueueAll,
  });
  return { objects, answer, enqueueAll, c2: { name: 'c2', client: { list: list as never } } };
}

describe('ClusterPropertyObjects', () => {
  it('has what an order can name, and keeps it while the cluster does not answer', async () => {
    const { objects, answer, enqueueAll, c2 } = ofC2();
    answer.mockResolvedValueOnce([
      ['region', 'eu'],
      ['note', 'not the value of a label'],
      ['tier', 'same'],
    ]);
    await objects.read(c2, running);
    expect(objects.found).toEqual(new Map([['c2', new Map([['region', 'eu']])]]));
    expect(enqueueAll).toHaveBeenCalledTimes(1);

    answer.mockRejectedValueOnce(new Error('connection refused'));
    answer.mockResolvedValueOnce([['region', 'eu']]);
    answer.mockResolvedValueOnce([['region', 'us']]);
    const { found } = objects;
    await objects.read(c2, running);
    await objects.read(c2, running);
    expect(objects.found).toBe(found);
    await objects.read(c2, running);
    expect(objects.found).toEqual(new Map([['c2', new Map([['region', 'us']])]]));
    expect(enqueueAll).toHaveBeenCalledTimes(2);
  });

  it.each([403, 404])('knows that a cluster has none if the answer is %i', async (status) => {
    const { objects, answer, c2 } = ofC2();
    answer.mockRejectedValueOnce(new KubeApiError('no', { status }));
    await objects.read(c2, running);
    expect(objects.found).toEqual(new Map([['c2', new Map()]]));
  });

  it('does not know it if there is another answer', async () => {
    const { objects, answer, c2 } = ofC2();
    answer.mockRejectedValueOnce(new KubeApiError('busy', { status: 503 }));
    await objects.read(c2, running);
    expect(objects.found).toEqual(new Map());
  });

  it('asks the local cluster until it answers, as exports may be for some properties only', async () => {
    const { objects, answer, c2 } = ofC2();
    answer.mockRejectedValueOnce(new KubeApiError('busy', { status: 503 }));
    answer.mockResolvedValueOnce([['region', 'eu']]);
    await objects.readLocal({ ...c2, name: 'c1' }, running);
    expect(objects.found).toEqual(new Map([['c1', new Map([['region', 'eu']])]]));
  });

  it('takes a refusal of the local cluster for an answer', async () => {
    const { objects, answer, c2 } = ofC2();
    answer.mockRejectedValueOnce(new KubeApiError('no', { status: 403 }));
    await objects.readLocal({ ...c2, name: 'c1' }, running);
    expect(objects.found).toEqual(new Map([['c1', new Map()]]));
  });

  it('keeps a hundred of those that a cluster has', async () => {
    const { objects, answer, c2 } = ofC2();
    answer.mockResolvedValueOnce(Array.from({ length: 400 }, (_, i) => [`p${i}`, 'a'] as const));
    await objects.read(c2, running);
    expect(objects.found.get('c2')?.size).toBe(100);
  });

  it('asks a cluster whose list has no end once', async () => {
    const { objects, answer, c2 } = ofC2();
    const endless = async () => ({
      items: (await answer()).map(([name, value]) => property(name, value)),
      continue: 'x',
    });
    answer.mockResolvedValue([['region', 'eu']]);
    await objects.read({ ...c2, client: { list: endless as never } }, running);
    expect([answer.mock.calls.length, objects.found.get('c2')?.get('region')]).toEqual([1, 'eu']);
  });

  it('asks nothing if no Service can have an order', async () => {
    const { objects, answer, c2 } = ofC2({});
    await objects.read(c2, running);
    await objects.readLocal(c2, running);
    expect(answer).not.toHaveBeenCalled();
  });
});
