import { endpointSliceKind } from '@kube-semaphore/kube-objects';
import { checks } from '../check/checks.ts';
import { readFacts } from '../check/facts/facts.ts';
import { resultsOf } from '../check/page.ts';
import { type Context, inTime } from '../clusters/contexts.ts';
import { listObjects, type Read, type Run } from '../clusters/objects.ts';
import { type ClusterReport, readCluster } from '../clusters/report.ts';
import { readImports, readServices } from '../clusters/services.ts';
import { type Mesh, type MeshCluster, meshOf, sliceSelectors } from './mesh.ts';
import { type Checked, checkedOf } from './view.ts';

/** Reads all clusters. Rejects only when `signal` is aborted. */
export async function readMesh(contexts: readonly Context[], run: Run): Promise<Mesh> {
  const clusters = await Promise.all(contexts.map((context) => readMeshCluster(inTime(context), run)));
  return meshOf(clusters, new Date().toISOString());
}

async function readMeshCluster(context: Context, run: Run): Promise<MeshCluster> {
  const report = await readCluster(context, run);
  if (report.failure !== undefined) return { report, services: [], imports: [], slices: [], failures: [] };
  const [services, imports, ...slices] = await Promise.all([
    readServices(context, run),
    readImports(context, run),
    ...sliceSelectors.map((labelSelector) => listObjects(context, endpointSliceKind, { labelSelector }, run)),
  ]);
  const failures = [services, imports, ...slices].flatMap((read) => (read.known ? [] : [read.why]));
  return { report, services: itemsOf(services), imports: itemsOf(imports), slices: slices.flatMap(itemsOf), failures };
}

const itemsOf = <T>(read: Read<readonly T[]>): readonly T[] => (read.known ? read.value : []);

/** Checks all clusters. Rejects only when `signal` is aborted. @param reports in the order of the contexts */
export async function readChecks(
  contexts: readonly Context[],
  reports: readonly ClusterReport[],
  run: Run,
): Promise<Checked> {
  const readings = await Promise.all(
    contexts.map(async (context, i) => ({ ...reports[i]!, facts: await readFacts(inTime(context), reports[i]!, run) })),
  );
  return checkedOf(resultsOf(checks, readings), new Date().toISOString());
}
