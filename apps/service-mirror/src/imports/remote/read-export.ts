import type { Service, ServiceExport } from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
import { type AddressRules, isUsedFamily } from '@kube-semaphore/net';
import type { OwnExport } from '../desired/conditions.ts';
import type { Export, ExportedDefinition } from '../desired/export.ts';
import type { StringMap } from '../../endpoints/desired/objects.ts';
import { readWish } from '../../endpoints/desired/routing/wish.ts';
import { numberOf } from '../../endpoints/desired/families.ts';
import type { Reading, SourceService } from '../../endpoints/desired/source.ts';
import { type Importer, notExportedTo } from '../../endpoints/remote/export-to.ts';
import { readService, skip } from '../../endpoints/remote/read-service.ts';

/** A ServiceExport, as stored. */
export type SourceExport = Pick<Export, 'createdAt' | 'labels' | 'annotations' | 'wish'> & {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
};

/** All exported labels and annotations together; the API server allows 256 KiB of annotations. */
const MOST_BYTES = 256 * 1024;

/**
 * Reads a ServiceExport. One that is being deleted exports nothing any more.
 *
 * @param importer the local cluster, for an export of a remote
 */
export function readExport({ metadata, spec }: ServiceExport, importer?: Importer): Reading<SourceExport> {
  const { uid, namespace, name, creationTimestamp, deletionTimestamp } = metadata;
  if (deletionTimestamp > 0) return { value: undefined, skipped: [] };
  if (!isDnsLabel(namespace) || !isDnsLabel(name))
    return skip('bad-name', `${namespace}/${name} is not a valid Service name`);
  const notOurs = notExportedTo(metadata, importer);
  if (notOurs !== undefined) return { value: undefined, skipped: [notOurs] };
  const { exportedLabels: labels, exportedAnnotations: annotations } = spec;
  const bytes = bytesOf(labels) + bytesOf(annotations);
  if (bytes > MOST_BYTES)
    return skip('too-large', `it exports ${bytes} bytes of labels and annotations; at most ${MOST_BYTES} are allowed`);
  const { wish, skipped } = readWish(metadata.annotations);
  return { value: { uid, namespace, name, createdAt: creationTimestamp, labels, annotations, wish }, skipped };
}

/** API servers have PreferClose, PreferSameZone and PreferSameNode, and newer ones may have more. A remote could say anything. */
const TRAFFIC_DISTRIBUTION = /^[A-Za-z]{1,63}$/;

/** What a ServiceExport exports; `definition` if it is valid. `skipped`: of its annotations. */
export type ExportedService = Pick<SourceService, 'wish'> & {
  readonly own: OwnExport;
  readonly definition: ExportedDefinition | undefined;
  readonly skipped?: Reading<unknown>['skipped'];
};

/**
 * Reads the Service of an export.
 *
 * @param service undefined: there is none
 * @param addresses that a remote may announce
 */
export function readExportedService(
  service: Service | undefined,
  addresses: Pick<AddressRules, 'families'> = {},
): ExportedService {
  if (service === undefined) return { own: { service: 'missing' }, definition: undefined };
  const { value, skipped } = readService(service, { isLocalFirst: () => false });
  if (value === undefined) return { own: skippedBy(skipped[0]), definition: undefined };
  const { headless, families, ports, affinitySeconds } = value.definition;
  const usedFamilies = families.filter((family) => isUsedFamily(numberOf(family), addresses));
  const { internalTrafficPolicy, trafficDistribution } = service.spec;
  return {
    own: { service: 'exported' },
    wish: value.wish,
    ...(skipped.length > 0 && { skipped }),
    definition: {
      headless,
      // All clusters must find the same conflicts, so the others stay in `families`.
      families,
      ...(usedFamilies.length < families.length && { usedFamilies }),
      ports,
      affinitySeconds,
      // An API server before 1.22 sets none.
      internalTrafficPolicy: internalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
      trafficDistribution: TRAFFIC_DISTRIBUTION.test(trafficDistribution) ? trafficDistribution : undefined,
    },
  };
}

/** @param why undefined for a Service of ours */
function skippedBy(why: Reading<unknown>['skipped'][number] | undefined): OwnExport {
  if (why?.reason === 'external-name') return { service: 'external-name' };
  return { service: 'skipped', detail: why?.detail ?? 'the Service is a copy of services of other clusters' };
}

const bytesOf = (map: StringMap): number =>
  Object.entries(map).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
