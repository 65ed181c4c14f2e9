import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Namespace, namespaceKind } from '@kube-semaphore/kube-objects';
import { listAll, type Removal } from '@kube-semaphore/multicluster';
import { quoted } from '@kube-semaphore/text';

const codec = new Codec(namespaceKind);

export type NamespaceLabel = {
  /** Of the cluster label. */
  readonly key: string;
  readonly value: string;
  /** Whether a Namespace with another value gets this one. */
  readonly overwrite: boolean;
};

/**
 * The writes that give the cluster label to all Namespaces.
 *
 * @returns also the Namespaces with another value, which keep it: a line for each
 * @throws KubeApiError, ConnectionError
 */
export async function namespaceLabelWrites(client: KubeClient, label: NamespaceLabel, { signal }: RunOptions) {
  const { key, value, overwrite } = label;
  const namespaces = await listAll(client, codec, { signal });
  const isOther = (namespace: Namespace): boolean => ![undefined, value].includes(valueOf(namespace, key));
  const wanted = namespaces.filter((each) => (isOther(each) ? overwrite : valueOf(each, key) === undefined));
  const writes = wanted.map((namespace): Removal => {
    const { name, resourceVersion } = namespace.metadata;
    const before = valueOf(namespace, key);
    return {
      line: `label   namespace ${name}  ${key}=${value}${before === undefined ? '' : `, before: ${quoted(before)}`}`,
      // With the version, no label is overwritten that somebody sets meanwhile.
      carryOut: async (run) => {
        const metadata = { resourceVersion, labels: { [key]: value } };
        await client.patch(codec, { metadata }, { ...run, name });
      },
    };
  });
  const skipped = overwrite ? [] : namespaces.filter(isOther);
  return {
    writes,
    skipped: skipped.map(
      (each) =>
        `skip!   namespace ${each.metadata.name}: it has the value ${quoted(valueOf(each, key)!)}; -overwrite changes it`,
    ),
  };
}

const valueOf = ({ metadata: { labels } }: Namespace, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
