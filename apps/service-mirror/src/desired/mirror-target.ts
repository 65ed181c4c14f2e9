import { mirroredServiceLabel, mirrorPrefixLabel, mirrorServiceName } from '../names.ts';
import { desiredMirror } from './mirror.ts';
import { withoutLongPortNames } from './port-names.ts';
import type { Services, Target } from './target.ts';

export type MirrorTargetInput = {
  readonly cluster: string;
  readonly prefix: string;
  /** The namespace of all mirrors. */
  readonly mirrorNamespace: string;
  /** Those of the cluster that are to be mirrored. */
  readonly source: Services;
  /** Prefixes of all remotes: what one of them left to another, by age, is that one's. */
  readonly prefixes: readonly string[];
  readonly keepsStale: boolean;
  readonly keepsEndpoints: boolean;
};

/** What the mirror of a remote Service should be now. */
export function mirrorTarget(
  { namespace, name }: { namespace: string; name: string },
  input: MirrorTargetInput,
): Target {
  const { cluster, prefix, mirrorNamespace, source, prefixes, ...kept } = input;
  const localName = mirrorServiceName(prefix, namespace, name);
  const found = source.service(namespace, name);
  const { value: service, skipped = [] } = found
    ? withoutLongPortNames(found, { namespace: mirrorNamespace, name: localName })
    : {};
  return {
    name: localName,
    isOurs: (labels) => labels[mirroredServiceLabel] === 'true' && prefixes.includes(labels[mirrorPrefixLabel] ?? ''),
    wanted: !source.known
      ? 'unknown'
      : service === undefined
        ? 'nothing'
        : desiredMirror({ cluster, prefix, service, slices: source.slices(namespace, name) }),
    keepsStale: kept.keepsStale,
    keepsEndpoints: kept.keepsEndpoints,
    diagnostics: skipped.map((each) => ({ cluster, ...each })),
  };
}
