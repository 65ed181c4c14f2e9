import { type Service, type ServiceImport, serviceImportKind, serviceKind } from '@kube-semaphore/kube-objects';
import {
  globalServiceLabel,
  managedByLabel,
  mirroredServiceLabel,
  sliceManager,
} from '@kube-semaphore/service-mirror/names';
import type { Cidr } from '@kube-semaphore/net';
import * as z from 'zod/mini';
import { rangesIn } from '../masquerade/masquerader.ts';
import type { Context } from './contexts.ts';
import { allOf, listObjects, mapRead, type Read, readAs, readGroups, type Run } from './objects.ts';

/** The mirrors and the global Services of a cluster. */
export async function readServices(context: Context, run: Run): Promise<Read<readonly Service[]>> {
  const [mirrors, globals] = await Promise.all(
    [mirroredServiceLabel, globalServiceLabel].map((label) =>
      listObjects(context, serviceKind, { labelSelector: `${label}=true` }, run),
    ),
  );
  return mapRead(allOf({ mirrors: mirrors!, globals: globals! }), (both) => [...both.mirrors, ...both.globals]);
}

/** The ServiceImports of ours. */
export async function readImports(context: Context, run: Run): Promise<Read<readonly ServiceImport[]>> {
  // Who may not list them isn't told whether they exist.
  const groups = await readGroups(context, run);
  if (!groups.known) return groups;
  if (!groups.value.has(serviceImportKind.group)) return { known: true, value: [] };
  return listObjects(context, serviceImportKind, { labelSelector: `${managedByLabel}=${sliceManager}` }, run);
}

const serviceCidrs = z.object({ items: z.array(z.object({ spec: z.object({ cidrs: z.array(z.string()) }) })) });

/** The ranges of the ServiceCIDRs; undefined: the API server has none in this version. */
export async function readServiceCidrs(
  context: Context,
  version: 'v1' | 'v1beta1',
  run: Run,
): Promise<Read<readonly string[] | undefined>> {
  const read = await readAs(context, `/apis/networking.k8s.io/${version}/servicecidrs`, serviceCidrs, run);
  return mapRead(read, (found) => found?.items.flatMap(({ spec }) => spec.cidrs));
}

/** The ranges of Services, in which no remote has a Pod. As for the apps: empty if the user may not read them. */
export async function readServiceRanges(context: Context, run: Run): Promise<readonly Cidr[]> {
  const read = await readServiceCidrs(context, 'v1', run);
  return rangesIn(read.known ? (read.value ?? []) : []);
}
