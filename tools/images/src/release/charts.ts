import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseDocument } from 'yaml';
import { run } from '../run.ts';
import { digestIn, isLocal } from './registry.ts';

/** The charts: of one app each, and of all. */
const charts = ['semaphore-policy', 'semaphore-service-mirror', 'semaphore-wireguard', 'kube-semaphore'] as const;

/**
 * Packs the charts into the folder `out`. By default, they use the images of a registry.
 *
 * @returns their files
 */
export async function packCharts({
  root,
  out,
  registry,
  helm,
}: {
  readonly root: string;
  readonly out: string;
  readonly registry: string;
  readonly helm: string;
}): Promise<readonly string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'charts-'));
  try {
    const files: string[] = [];
    for (const chart of charts) {
      const folder = join(copy, chart);
      await cp(join(root, 'deploy/charts', chart), folder, { recursive: true, dereference: true });
      const values = parseDocument(await readFile(join(folder, 'values.yaml'), 'utf8'));
      values.setIn(['global', 'imageRegistry'], registry);
      await writeFile(join(folder, 'values.yaml'), values.toString({ lineWidth: 0 }));
      const output = await run([helm, 'package', folder, '--destination', out]);
      files.push(join(out, basename(output.trim())));
    }
    return files;
  } finally {
    await rm(copy, { recursive: true });
  }
}

/**
 * Pushes a packed chart into `<registry>/charts`.
 *
 * @returns its name there, with its digest
 */
export async function pushChart(
  file: string,
  { registry, helm }: { readonly registry: string; readonly helm: string },
): Promise<string> {
  const target = `${registry}/charts`;
  const said = await run([helm, 'push', file, `oci://${target}`, ...(isLocal(registry) ? ['--plain-http'] : [])]);
  const digest = digestIn(said, basename(file));
  return `${target}/${basename(file).replace(/-\d+\.\d+\.\d+.*$/, '')}@${digest}`;
}
