import { printable } from '@kube-semaphore/text';
import { colours, type Labelled, tunnelLabel } from './labels.ts';

/** For Mermaid, as in Markdown of many wikis. */
export function mermaidOf({ clusters, tunnels }: Labelled): string {
  const label = (text: string): string =>
    `"${printable(text).replaceAll(/[^\w ./:,=+-]/gu, (char) => `#${char.codePointAt(0)};`)}"`;
  return page([
    'flowchart LR',
    ...clusters.flatMap(({ id, name, nodes, services }) => [
      `  subgraph ${id}[${label(name)}]`,
      ...nodes.map((node) => `    ${node.id}[${label(node.label)}]`),
      ...services.map((service, i) => `    ${id}s${i}([${label(service)}])`),
      '  end',
    ]),
    ...tunnels.map(({ ends: [a, b], tunnel }) => `  ${a} ---|${label(tunnelLabel(tunnel))}| ${b}`),
    ...tunnels.map(({ tunnel }, i) => `  linkStyle ${i} stroke:${colours[tunnel.state]}`),
  ]);
}

/** For Graphviz. */
export function dotOf({ clusters, tunnels }: Labelled): string {
  const label = (text: string): string => `label="${printable(text).replaceAll(/["\\]/g, (char) => `\\${char}`)}"`;
  return page([
    'graph mesh {',
    ...clusters.flatMap(({ id, name, nodes, services }) => [
      `  subgraph cluster_${id} {`,
      `    ${label(name)}`,
      ...nodes.map((node) => `    ${node.id} [shape=box ${label(node.label)}]`),
      ...services.map((service, i) => `    ${id}s${i} [shape=plain ${label(service)}]`),
      '  }',
    ]),
    ...tunnels.map(
      ({ ends: [a, b], tunnel }) => `  ${a} -- ${b} [color="${colours[tunnel.state]}" ${label(tunnelLabel(tunnel))}]`,
    ),
    '}',
  ]);
}

const page = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
