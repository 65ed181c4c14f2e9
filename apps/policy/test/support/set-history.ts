import type { KubeObject, TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { calicoMetadataAnnotation, labelDomains } from '@kube-semaphore/network-policies';
import { type CalicoGroup, gapsIn, ObjectHistory } from '@kube-semaphore/testkit';
import { setsPath, type SetView, viewOf } from './sets.ts';

/** All sets after one write. */
type Moment = readonly SetView[];

/** Every version of every GlobalNetworkSet. */
export class SetHistory {
  readonly #history: ObjectHistory<Moment>;

  private constructor(history: ObjectHistory<Moment>) {
    this.#history = history;
  }

  /** Begins with the present sets. @param token of an account that may watch GlobalNetworkSets */
  static async start(
    cluster: TestCluster,
    { token }: Pick<TestAccount, 'token'>,
    group?: CalicoGroup,
  ): Promise<SetHistory> {
    const momentOf = (sets: readonly KubeObject[]): Moment => sets.map(seenByCalico);
    return new SetHistory(await ObjectHistory.start({ cluster, path: setsPath(group), token, momentOf }));
  }

  stop(): void {
    this.#history.stop();
  }

  /** Waits until all past events are in the history. */
  caughtUp(): Promise<void> {
    return this.#history.caughtUp();
  }

  /** Names of deleted sets, in order. */
  deletions(): readonly string[] {
    return this.#history.deletions;
  }

  /** How many versions of a set there were, or of all sets. */
  versions(name?: string): number {
    const written = this.#history.events.filter(({ type }) => type !== 'DELETED');
    return written.filter(({ object: { metadata } }) => metadata.name === (name ?? metadata.name)).length;
  }

  /** The most nets that any set ever had. */
  largest(): number {
    return Math.max(0, ...this.#history.moments.flat().map(({ nets }) => nets.length));
  }

  /** The nets that were in no set of their workload at some moment after they first were in one: policies denied them. */
  gaps(app: string, nets: readonly string[], namespace = 'default'): readonly string[] {
    const { moments } = this.#history;
    return gapsIn(
      moments.map((moment) => netsOf(moment.filter((set) => isOf(set, app, namespace)))),
      nets,
    );
  }

  /** The nets that were in no set of any workload at some moment after they first were in one. */
  gapsInAll(nets: readonly string[]): readonly string[] {
    return gapsIn(this.#history.moments.map(netsOf), nets);
  }
}

const netsOf = (sets: readonly SetView[]): ReadonlySet<string> => new Set(sets.flatMap(({ nets }) => nets));

/** A set with the labels that Calico uses, wherever they are stored. */
function seenByCalico(set: KubeObject): SetView {
  const view = viewOf(set);
  const stored = JSON.parse(set.metadata.annotations?.[calicoMetadataAnnotation] ?? '{}') as Partial<SetView>;
  return { ...view, labels: { ...view.labels, ...stored.labels } };
}

function isOf({ labels }: SetView, app: string, namespace: string): boolean {
  return labelDomains.some((domain) => labels[`${domain}/name`] === app && labels[`${domain}/namespace`] === namespace);
}
