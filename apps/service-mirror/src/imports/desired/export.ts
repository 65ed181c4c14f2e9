import type { StringMap } from '../../endpoints/desired/objects.ts';
import type { RoutingWish } from '../../endpoints/desired/routing/wish.ts';
import type { Definition, Family } from '../../endpoints/desired/source.ts';

/** The part of an exported Service that its importers copy. */
export type ExportedDefinition = Omit<Definition, 'publishNotReadyAddresses'> & {
  /** Those of `families` that are used of the cluster; undefined: all. */
  readonly usedFamilies?: readonly Family[];
  /** `Local`: a node's clients reach only endpoints of the node. */
  readonly internalTrafficPolicy: 'Cluster' | 'Local';
  /** For example `PreferClose`; undefined: no preference. */
  readonly trafficDistribution: string | undefined;
};

/** A valid export: a cluster's ServiceExport, and its Service. */
export type Export = {
  readonly cluster: string;
  /** Of the ServiceExport, in ms of Unix time; maybe `YOUNGEST`. */
  readonly createdAt: number;
  readonly definition: ExportedDefinition;
  /** `spec.exportedLabels` and `spec.exportedAnnotations`, unfiltered: all clusters must find the same conflicts. */
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** Which clusters are to answer, as the ServiceExport says, or else its Service. */
  readonly wish?: RoutingWish | undefined;
};
