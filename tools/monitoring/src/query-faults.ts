import { type Exported, type Labels, targetLabels } from './exported.ts';
import { type Matcher, usesOf } from './promql-uses.ts';

/**
 * What a query names that nobody exports: series, their labels, values of labels whose values are all known.
 *
 * @returns one line per fault, in the order of the query
 * @throws {SyntaxError} if it is no PromQL, as far as can be told
 */
export function queryFaults(query: string, exported: Exported): readonly string[] {
  const { selectors, groupings } = usesOf(query);
  const ofSelectors = selectors.flatMap(({ series, matchers }) => {
    const labels = exported.get(series);
    return labels === undefined
      ? [`nobody exports ${series}`]
      : matchers.flatMap((matcher) => matcherFaults(matcher, { series, labels }));
  });
  const known = new Set([
    ...targetLabels,
    ...selectors.flatMap(({ series }) => Object.keys(exported.get(series) ?? {})),
  ]);
  return [
    ...ofSelectors,
    ...groupings.filter((label) => !known.has(label)).map((label) => `nothing here has a label ${label}`),
  ];
}

/** The labels that the results of a query may have; those of its selectors unless it groups by some. */
export function resultLabels(query: string, exported: Exported): ReadonlySet<string> {
  const { selectors, groupings } = usesOf(query);
  return new Set(
    groupings.length > 0
      ? groupings
      : [...targetLabels, ...selectors.flatMap(({ series }) => Object.keys(exported.get(series) ?? {}))],
  );
}

function matcherFaults(
  { label, operator, value }: Matcher,
  { series, labels }: { readonly series: string; readonly labels: Labels },
): readonly string[] {
  if (!(label in labels)) return targetLabels.includes(label) ? [] : [`${series} has no label ${label}`];
  const possible = labels[label];
  // A variable of a dashboard is whatever its reader chose.
  if (possible === undefined || value.startsWith('$')) return [];
  const values = operator.endsWith('~') ? value.split('|') : [value];
  return values.filter((each) => !possible.includes(each)).map((each) => `${label} of ${series} is never ${each}`);
}
