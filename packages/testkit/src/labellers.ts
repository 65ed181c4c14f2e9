import { type EmbeddedClusterOptions, type KubeObject, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';

/** Who labels objects in a cluster: a controller what it sees, a webhook what is written. */
export type Labeller = 'none' | 'controller' | 'webhook';

const LABEL = { 'example.com/cost-centre': 'a' };

const isLabelled = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  Object.hasOwn(labels, Object.keys(LABEL)[0]!);

/**
 * A cluster whose objects of some kinds get a label of others.
 *
 * @param kinds as `Service`
 */
export async function startLabelledCluster({
  kinds,
  ...options
}: Omit<EmbeddedClusterOptions, 'mutate'> & { readonly kinds: readonly string[] }) {
  let labeller: Labeller = 'none';
  const isDue = (object: KubeObject): boolean => kinds.includes(object.kind) && !isLabelled(object);
  const cluster = await startEmbeddedCluster({
    ...options,
    mutate: (object) =>
      labeller === 'webhook' && isDue(object)
        ? { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...LABEL } } }
        : object,
  });
  cluster.onWrite((write) => {
    if (labeller !== 'controller' || write.type === 'DELETED' || !isDue(write.object())) return;
    const { apiVersion, metadata } = write.object();
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const within = metadata.namespace === undefined ? root : `${root}/namespaces/${metadata.namespace}`;
    // The object may be gone by then.
    void cluster.admin.request('PATCH', `${within}/${write.resource}/${metadata.name}`, {
      metadata: { labels: LABEL },
    });
  });
  return {
    cluster,
    isLabelled,
    labelBy: (next: Labeller): void => {
      labeller = next;
    },
  };
}
