import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { parse, parseAllDocuments } from 'yaml';
import { findBinaries } from './real/binaries.ts';

const run = promisify(execFile);

/** Found once: a test may change HOME. */
const binaries = findBinaries(['helm']);

/** The charts: of one app each, and of all. */
export const charts = [
  'semaphore-policy',
  'semaphore-service-mirror',
  'semaphore-wireguard',
  'kube-semaphore',
] as const;

/** The name of a chart, and of its release here. */
export type Chart = (typeof charts)[number];

/** The folder of a chart. */
export const chartFolder = (chart: Chart): string =>
  fileURLToPath(new URL(`../../../deploy/charts/${chart}`, import.meta.url));

/**
 * Runs helm, with values in a file.
 *
 * @param kubeconfig of the cluster; without it, helm reaches none
 * @throws {Error} with its output, unless the exit code is 0
 */
export async function helm(
  args: readonly string[],
  { values, kubeconfig }: { readonly values?: object | undefined; readonly kubeconfig?: string } = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  if (!binaries.ok) throw new Error(binaries.reason);
  const home = await mkdtemp(join(tmpdir(), 'helm-'));
  try {
    const file = join(home, 'values.json');
    if (values !== undefined) await writeFile(file, JSON.stringify(values));
    const all = [...args, ...(values === undefined ? [] : ['--values', file])];
    return await run(binaries.paths.helm, all, { env: { HOME: home, KUBECONFIG: kubeconfig }, maxBuffer: 2 ** 24 });
  } finally {
    await rm(home, { recursive: true });
  }
}

/** The objects of a chart. */
export async function chartObjects(chart: Chart, values?: object): Promise<readonly KubeObject[]> {
  const { stdout } = await helm(['template', chart, chartFolder(chart)], { values });
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
}

const INSTANCE = 'app.kubernetes.io/instance';

/**
 * Objects of kustomize, as a release of a chart should have them. It differs in three labels of ours: `managed-by` and
 * `helm.sh/chart`, which kustomize hasn't, and `instance`, the name of the release.
 */
export async function released(objects: readonly KubeObject[], chart: Chart): Promise<readonly KubeObject[]> {
  const { version } = parse(await readFile(join(chartFolder(chart), 'Chart.yaml'), 'utf8')) as { version: string };
  return objects.map((object) => {
    const { labels = {} } = object.metadata;
    if (!(INSTANCE in labels)) return object;
    const app = chart === 'kube-semaphore' ? labels['app.kubernetes.io/name'] : chart;
    const ofHelm = { 'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': `${app}-${version}` };
    const metadata = { ...object.metadata, labels: { ...labels, [INSTANCE]: chart, ...ofHelm } };
    const template = templateOf(object);
    if (template === undefined) return { ...object, metadata };
    const pod = { ...template.metadata, labels: { ...template.metadata.labels, [INSTANCE]: chart } };
    return { ...object, metadata, spec: { ...(object['spec'] as object), template: { ...template, metadata: pod } } };
  });
}

type Template = {
  readonly metadata: { readonly labels?: object; readonly annotations?: object };
  readonly spec: object;
};

const templateOf = ({ spec }: KubeObject): Template | undefined =>
  (spec as { readonly template?: Template } | undefined)?.template;

/**
 * Objects by kind, namespace and name. Lists whose items have names are sorted, as their order says nothing. For a changed
 * config, kustomize changes the name of its ConfigMap, and Helm an annotation of the Pods: both are left out. So are line
 * breaks of expressions, as kustomize doubles some.
 */
export function byName(objects: readonly KubeObject[]): Readonly<Record<string, unknown>> {
  const json = JSON.stringify(objects.map(comparable)).replaceAll(/"(semaphore-[a-z-]+)-[a-z0-9]{10}"/g, '"$1"');
  const sorted = JSON.parse(json, (key, value: unknown) => {
    if (typeof value === 'string' && /expression$/i.test(key)) return value.replaceAll(/\s+/g, ' ');
    return Array.isArray(value) && value.every(hasName) ? value.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : value;
  }) as readonly KubeObject[];
  return Object.fromEntries(
    sorted.map((object) => [`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, object]),
  );
}

function comparable(object: KubeObject): object {
  const { 'config.json': config } = (object['data'] ?? {}) as { readonly 'config.json'?: string };
  if (config !== undefined) {
    const { name, namespace } = object.metadata;
    return { kind: object.kind, metadata: { name, namespace }, config: JSON.parse(config) as unknown };
  }
  const template = templateOf(object);
  if (template === undefined) return object;
  const annotations = { ...template.metadata.annotations, 'checksum/config': undefined };
  const pod = { ...template.metadata, annotations };
  return { ...object, spec: { ...(object['spec'] as object), template: { ...template, metadata: pod } } };
}

const hasName = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' && value !== null && 'name' in value;

type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
};

/**
 * The fields of a config file that the values of a chart can't set.
 *
 * @param file what `z.toJSONSchema` makes of the file
 * @param list the field with the remotes, which are values of their own; all else is below `config`
 */
export function fieldsMissingIn(chart: Chart, file: object, list: string): readonly string[] {
  const values = JSON.parse(readFileSync(join(chartFolder(chart), 'values.schema.json'), 'utf8')) as JsonSchema;
  const known = new Set(pathsOf(values));
  return [...new Set(pathsOf(file))].filter((path) => {
    const [first, ...rest] = path.split('.');
    return !known.has((first === list ? ['remotes', ...rest] : ['config', path]).join('.'));
  });
}

function pathsOf({ properties = {}, items, anyOf = [] }: JsonSchema): readonly string[] {
  return [
    ...Object.entries(properties).flatMap(([name, schema]) => [
      name,
      ...pathsOf(schema).map((path) => `${name}.${path}`),
    ]),
    ...(items === undefined ? [] : pathsOf(items)),
    ...anyOf.flatMap(pathsOf),
  ];
}
