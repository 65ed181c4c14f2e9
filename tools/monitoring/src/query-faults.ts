import { type Exported, type Labels, targetLabels } from './exported.ts';
import { type Matcher, usesOf } from './promql-uses.ts';

/**
 * Finds series, labels and (if all are known) values of labels in a query that no app exports.
 *
 * @returns one line per fault, in the order of the query
 * @throws {SyntaxError} if it isn't PromQL
 */
export function queryFaults(query: string, exported: Exported): readonly string[] {
  const { selectors, groupings } = usesOf(query);
  const ofSelectors = selectors.flatMap(({ series, matchers }) => {
    const labels = exported.get(series);
    return labels === undefined
      ? [`no app exports ${series}`]
      : matchers.flatMap((matcher) => matcherFaults(matcher, { series, labels }));
  });
  const known = new Set([
    ...targetLabels,
    ...selectors.flatMap(({ series }) => Object.keys(exported.get(series) ?? {})),
  ]);
  return [
    ...ofSelectors,
    ...groupings.filter((label) => !known.has(label)).map((label) => `no series has a label ${label}`),
  ];
}

/** The possible labels of a query's results: those of its groupings, or else of its selectors. */
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
  // A variable of a dashboard can have any value.
  if (possible === undefined || value.startsWith('$')) return [];
  const values = operator.endsWith('~') ? value.split('|') : [value];
  return values.filter((each) => !possible.includes(each)).map((each) => `${label} of ${series} is never ${each}`);
}
