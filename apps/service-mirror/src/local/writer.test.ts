import { KubeApiError } from '@kube-semaphore/kube-client';
import { describe, expect, it } from 'vitest';
import type { Change } from '../desired/diff/change.ts';
import { KeyWriter } from './writer.ts';
import { RefusedWrites } from './refused-writes.ts';

const slice = (name: string, port = 80): Change => ({
  kind: 'create-slice',
  owner: { name: 'web', uid: 'u' },
  to: {
    name,
    labels: {},
    annotations: {},
    family: 'IPv6',
    ports: [{ name: '', protocol: 'TCP', port, appProtocol: undefined }],
    endpoints: [],
  },
});
const nameOf = (change: Change): string => ('to' in change ? change.to.name : change.from.name);

/** An API server that refuses changes of these names with these errors; `sent` is what it received. */
function server(errors: Readonly<Record<string, Error>>) {
  const sent: string[] = [];
  const refused = new RefusedWrites();
  const write = async (change: Change): Promise<undefined> => {
    sent.push(nameOf(change));
    const error = errors[nameOf(change)];
    if (error !== undefined) throw error;
  };
  /** One reconcile. */
  const look = async (changes: readonly Change[]): Promise<KeyWriter> => {
    const writer = new KeyWriter({
      key: 'c2/ns/web',
      context: { signal: new AbortController().signal, since: 0 },
      write,
      refused,
    });
    try {
      await writer.writeAll(changes);
    } finally {
      refused.replace('c2/ns/web', writer.refused);
    }
    return writer;
  };
  return { sent, look };
}

const invalid = new KubeApiError('no such family', { status: 422, reason: 'Invalid' });
const busy = new KubeApiError('busy', { status: 503 });

describe('KeyWriter', () => {
  it('does not send a refused change again, and reports it each time', async () => {
    const { sent, look } = server({ bad: invalid });
    for (const wrote of [true, false]) {
      const writer = await look([slice('bad')]);
      expect(writer.wrote).toBe(wrote);
      expect(writer.refused.map(({ why }) => why)).toEqual(['no such family']);
    }
    expect(sent).toEqual(['bad']);
  });

  it.each([400, 413, 422])('takes %i as a refusal of that object alone', async (status) => {
    const { sent, look } = server({ bad: new KubeApiError('no', { status }) });
    const { refused } = await look([slice('bad'), slice('good')]);
    expect(refused.map(({ why }) => why)).toEqual(['no']);
    await look([slice('bad'), slice('good')]);
    expect(sent).toEqual(['bad', 'good', 'good']);
  });

  it('sends a different change, and the same one after it was not wanted', async () => {
    const { sent, look } = server({ bad: invalid });
    await look([slice('bad')]);
    await look([slice('bad', 81)]);
    await look([slice('bad', 81)]);
    await look([]);
    await look([slice('bad', 81)]);
    expect(sent).toEqual(['bad', 'bad', 'bad']);
  });

  it('sends a change with a taken name again, and reports it', async () => {
    const { sent, look } = server({ ours: new KubeApiError('it is there', { status: 409, reason: 'AlreadyExists' }) });
    for (const _ of [1, 2]) {
      const { taken, refused } = await look([slice('ours'), slice('good')]);
      expect({ refused, taken: taken.map(({ why }) => why) }).toEqual({
        refused: [],
        taken: ["the EndpointSlice ours exists, and isn't ours"],
      });
    }
    expect(sent).toEqual(['ours', 'good', 'ours', 'good']);
  });

  it('tries all changes, then throws what is not a refusal', async () => {
    const { sent, look } = server({ bad: invalid, busy });
    await expect(look([slice('bad'), slice('busy'), slice('good')])).rejects.toBe(busy);
    await expect(look([slice('bad'), slice('busy'), slice('good')])).rejects.toBe(busy);
    expect(sent).toEqual(['bad', 'busy', 'good', 'busy', 'good']);
  });
});
