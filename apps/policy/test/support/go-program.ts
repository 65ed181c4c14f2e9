import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { calicoMetadataAnnotation } from '@kube-semaphore/network-policies';
import type { GoRelease } from './go-releases.ts';
import { setsPath } from './sets.ts';

type StoredSet = { readonly labels: Readonly<Record<string, string>>; readonly nets: readonly string[] };

export type GoProgramOptions = {
  readonly release: GoRelease;
  readonly cluster: string;
  /** A client of each cluster, with the program's own rights. */
  readonly local: TestClient;
  readonly remote: TestClient;
};

/**
 * A model of the Go program for migrations: its store and its writes, without its queue, its retries and its rate limit of
 * 5 requests/s.
 *
 * A Pod is one address, its first, as a /32 of any family; hostNetwork and finished Pods are members. A set is known by its
 * name only: workloads with one name share a set, with the labels of the first of them.
 */
export class GoProgram {
  readonly #options: GoProgramOptions;
  readonly #store = new Map<string, StoredSet>();

  constructor(options: GoProgramOptions) {
    this.#options = options;
  }

  /**
   * Lists the Pods, then the sets. It deletes each set with its labels that it doesn't know, then writes all that it knows.
   * In between there is a gap for their addresses.
   */
  async start(): Promise<void> {
    const { release, cluster, local, remote } = this.#options;
    const { domain, managedBy, group } = release;
    for (const pod of await remote.list(`/api/v1/pods?labelSelector=${domain}/name`)) this.#add(pod);
    for (const { metadata } of await local.list(setsPath(group))) {
      const { name, labels = {} } = metadata;
      const isOurs = labels['managed-by'] === managedBy && labels[`${domain}/cluster`] === cluster;
      if (isOurs && !this.#store.has(name)) await this.#sync(name);
    }
    for (const name of this.#store.keys()) await this.#sync(name);
  }

  /** A Pod came. */
  async podAdded(pod: KubeObject): Promise<void> {
    await this.#sync(this.#add(pod));
  }

  #add(pod: KubeObject): string {
    const { release, cluster } = this.#options;
    const { namespace = '', labels = {} } = pod.metadata;
    const app = labels[`${release.domain}/name`] ?? '';
    const name = `${cluster}-${namespace}-${app}`;
    const { podIP } = pod['status'] as { podIP?: string };
    if (podIP === undefined) return name;
    const known = this.#store.get(name) ?? { labels: this.#labels(namespace, app), nets: [] };
    this.#store.set(name, { ...known, nets: [...new Set([...known.nets, `${podIP}/32`])] });
    return name;
  }

  #labels(namespace: string, app: string): StoredSet['labels'] {
    const { domain, managedBy } = this.#options.release;
    return {
      'managed-by': managedBy,
      [`${domain}/cluster`]: this.#options.cluster,
      [`${domain}/name`]: app,
      [`${domain}/namespace`]: namespace,
    };
  }

  /** GET, then PUT, or POST if there isn't one; DELETE of a set that it doesn't know. A refusal changes nothing. */
  async #sync(name: string): Promise<void> {
    const { release, local } = this.#options;
    const path = setsPath(release.group);
    const wanted = this.#store.get(name);
    if (wanted === undefined) return local.delete(`${path}/${name}`);
    const { status, body } = await local.request('GET', `${path}/${name}`);
    if (status === 404) await local.request('POST', path, this.#object({ name }, wanted));
    else await local.request('PUT', `${path}/${name}`, this.#object(body.metadata, wanted));
  }

  #object(metadata: KubeObject['metadata'], { labels, nets }: StoredSet): object {
    const { group } = this.#options.release;
    const viaLibcalico = group === 'crd.projectcalico.org';
    const { uid, creationTimestamp = null } = metadata;
    // libcalico-go keeps other metadata of an object in this annotation.
    const mark = viaLibcalico && { [calicoMetadataAnnotation]: JSON.stringify({ uid, creationTimestamp }) };
    return {
      apiVersion: `${group}/${viaLibcalico ? 'v1' : 'v3'}`,
      kind: 'GlobalNetworkSet',
      metadata: { ...metadata, labels, annotations: { ...metadata.annotations, ...mark } },
      spec: { nets },
    };
  }
}
