import { mirroredServiceLabel, mirrorPrefixLabel, mirrorServiceName } from '../names.ts';
import { desiredMirror } from './mirror.ts';
import { localForm, type Place } from './local-form.ts';
import type { Services, Target } from './target.ts';

export type MirrorTargetInput = {
  readonly cluster: string;
  readonly prefix: string;
  /** The namespace of all mirrors. */
  readonly mirrorNamespace: string;
  readonly families: Place['families'];
  /** The Services of the cluster to mirror. */
  readonly source: Services;
  /** Of all remotes: an older source of another remote may take over a name. */
  readonly prefixes: readonly string[];
  readonly retainsUnseen: boolean;
  readonly retainsEndpoints: boolean;
};

/** What the key of a mirror wants now. */
export function mirrorTarget(
  { namespace, name }: { namespace: string; name: string },
  input: MirrorTargetInput,
): Target {
  const { cluster, prefix, mirrorNamespace, families, source, prefixes, retainsUnseen, retainsEndpoints } = input;
  const localName = mirrorServiceName(prefix, namespace, name);
  const found = source.service(namespace, name);
  const { value: service, skipped = [] } = found
    ? localForm(found, { namespace: mirrorNamespace, name: localName, families })
    : {};
  return {
    name: localName,
    isOurs: (labels) => labels[mirroredServiceLabel] === 'true' && prefixes.includes(labels[mirrorPrefixLabel] ?? ''),
    wanted: !source.known
      ? 'unknown'
      : service === undefined
        ? 'nothing'
        : desiredMirror({ cluster, prefix, service, slices: source.slices(namespace, name) }),
    retainsUnseen,
    retainsEndpoints,
    diagnostics: skipped.map((each) => ({ cluster, ...each })),
  };
}
