import type { AppPod } from '../clusters/report.ts';

/** Keys that rotate between the nodes of a cluster and those of a remote. */
export type Rotation = {
  /** Nodes of this cluster whose own keys rotate. */
  readonly nodes: readonly { readonly node: string; readonly since: string }[];
  /** Nodes of the remote whose keys rotate, as those of this cluster see it. */
  readonly remoteNodes: readonly string[];
  /** Nodes of the remote that don't follow yet, or that don't end their own rotation. */
  readonly laggards: readonly string[];
  /** There are some after ten minutes. */
  readonly late: boolean;
};

/** @param to the remote, by the name that the Pods have for it; null: nothing rotates, or it is unknown */
export function rotationOf(pods: readonly AppPod[], to: string): Rotation | null {
  const all = pods.flatMap(({ node, status }) =>
    'failure' in status
      ? []
      : status.remotes.flatMap(({ name, rotation }) => (name === to && rotation ? [{ node, ...rotation }] : [])),
  );
  if (all.length === 0) return null;
  return {
    nodes: all.flatMap(({ node, since }) => (since === null ? [] : [{ node, since }])),
    remoteNodes: unique(all.flatMap(({ rotating }) => rotating)),
    laggards: unique(all.flatMap(({ laggards }) => laggards)),
    late: all.some(({ late }) => late),
  };
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();
