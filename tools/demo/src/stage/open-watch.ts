import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, get } from 'node:https';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';

type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject;
};

/** What to watch, as whom, and whom to tell. */
export type WatchOptions = {
  /** Of a collection in the API. */
  readonly path: string;
  readonly token: string;
  /** An object as it is now; `isGone`: as it was last. */
  readonly onObject: (object: KubeObject, isGone: boolean) => void;
  readonly onEnd: (error: Error) => void;
};

/**
 * Watches by the demo's own means, so that it needn't believe the app. Resolves when the watch stands, which goes on until
 * the cluster stops; `onEnd` is then called.
 */
export async function openWatch({ name, url, caFile }: TestCluster, { path, token, onObject, onEnd }: WatchOptions): Promise<void> {
  const options: RequestOptions = {
    agent: false,
    ca: await readFile(caFile),
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  };
  const request = get(`${url}${path}?watch=true`, options);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // The response breaks off as well, and is being read.
  request.on('error', () => {});
  void follow(response, onObject).catch((cause: unknown) => onEnd(new Error(`the demo's watch of ${name}`, { cause })));
}

async function follow(response: IncomingMessage, onObject: WatchOptions['onObject']): Promise<never> {
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as WatchEvent;
      if (type === 'ERROR') throw new Error(JSON.stringify(object));
      if (type !== 'BOOKMARK') onObject(object, type === 'DELETED');
    }
  }
  throw new Error('ended');
}
