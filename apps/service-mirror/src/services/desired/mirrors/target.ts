import { mirroredServiceLabel, mirrorPrefixLabel, mirrorServiceName } from '../../../names.ts';
import { desiredMirror } from './mirror.ts';
import { localForm, type Place } from '../../../endpoints/desired/local-form.ts';
import { localSlices } from '../../../endpoints/desired/local-slices.ts';
import type { ServiceView, Target } from '../../../endpoints/desired/target.ts';

export type MirrorTargetInput = {
  readonly cluster: string;
  readonly prefix: string;
  /** The namespace of all mirrors. */
  readonly mirrorNamespace: string;
  readonly families: Place['families'];
  readonly source: ServiceView;
  /** Of all remotes: an older source of another remote may take over a name. */
  readonly prefixes: readonly string[];
  /** Its source wasn't seen since the start, and the config says to retain such mirrors if it is gone. */
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
  const { value: service, skipped = [] } = source.service
    ? localForm(source.service, { namespace: mirrorNamespace, name: localName, families })
    : {};
  const local = localSlices(source.slices, { headless: service?.definition.headless ?? false });
  const wanted = !source.known
    ? 'unknown'
    : service === undefined
      ? 'nothing'
      : desiredMirror({ cluster, prefix, service, slices: local.slices });
  return {
    name: localName,
    isOurs: (labels) => labels[mirroredServiceLabel] === 'true' && prefixes.includes(labels[mirrorPrefixLabel] ?? ''),
    wanted,
    retainsUnseen: retainsUnseen && wanted === 'nothing',
    retainsEndpoints,
    diagnostics: [...skipped, ...source.skipped, ...(service === undefined ? [] : local.skipped)].map((each) => ({
      cluster,
      ...each,
    })),
  };
}
