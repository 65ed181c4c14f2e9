import type { Picture as Drawn } from '../picture.ts';
import { chordsOf, MAX_NAME } from './chords.ts';
import { Part, signs } from './table.tsx';

const legend = [
  ['up', 'recent handshake'],
  ['stale', 'old handshake'],
  ['never', 'no handshake'],
] as const;

const MANY_CLUSTERS = 60;

/** The mesh as a circle. All that it shows is in the lists, too. */
export function Picture({ picture }: { picture: Drawn }) {
  const { clusters, lines, size, hasNodeNames } = chordsOf(picture);
  const counts = legend.map(([state, words]) => `${picture.counts[state]} ${words}`);
  return (
    <Part id="picture" title="Picture">
      <ul class="legend">
        {legend.map(([state, words]) => (
          <li key={state}>
            <svg viewBox="0 0 40 8" width="40" height="8" aria-hidden="true">
              <path class={`line ${state}`} d="M0 4H40" />
            </svg>{' '}
            {words}: {picture.counts[state].toLocaleString('en')}
          </li>
        ))}
        {picture.hidden > 0 && <li>{picture.hidden.toLocaleString('en')} lines are not drawn: filter by a name</li>}
      </ul>
      <svg
        class={clusters.length > MANY_CLUSTERS ? 'mesh many' : 'mesh'}
        viewBox={[-size / 2, -size / 2, size, size].join(' ')}
        role="img"
        aria-label={`${clusters.length} clusters; tunnels: ${counts.join(', ')}`}
      >
        {lines.map(({ path, state, title }, i) => (
          <path key={i} class={`line ${state}`} d={path}>
            <title>{title}</title>
          </path>
        ))}
        {clusters.map(({ name, isTroubled, arc, label, nodes: own }) => (
          <g key={name} class={isTroubled ? 'troubled' : undefined}>
            <path class="arc" d={arc} />
            {own.map((node) => (
              <circle key={node.name} cx={node.x} cy={node.y} r="6">
                <title>{`${name} / ${node.name}`}</title>
              </circle>
            ))}
            {hasNodeNames &&
              own.map((node) => (
                <text key={node.name} class="node" transform={placed(node.label)} text-anchor={node.label.anchor}>
                  {cut(node.name)}
                </text>
              ))}
            <text transform={placed(label)} text-anchor={label.anchor}>
              {isTroubled ? `${signs.problem} ${cut(name)}` : cut(name)}
            </text>
          </g>
        ))}
      </svg>
    </Part>
  );
}

const placed = ({ x, y, turn }: { x: number; y: number; turn: number }): string =>
  `translate(${x} ${y}) rotate(${turn})`;

const cut = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name);
