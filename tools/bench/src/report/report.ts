import type { VerbCounts } from '../measure/requests.ts';
import type { Result } from '../phases/result.ts';
import type { Figure } from './figure.ts';
import { type Table, toMarkdown, toText } from './table.ts';

/** The report of a bench. */
export type Report = {
  /** The conditions, one per line. */
  readonly facts: readonly string[];
  /** Ours first. */
  readonly results: readonly Result[];
  /** In the order of the table. */
  readonly figures: readonly Figure[];
};

/** Compares a figure with its budget; undefined without one of them. */
export function verdict(value: number | undefined, budget: number | undefined): 'ok' | 'over' | undefined {
  if (value === undefined || budget === undefined) return undefined;
  return value <= budget ? 'ok' : 'over';
}

/** For a terminal. */
export function renderText(report: Report): string {
  return [...report.facts, '', toText(tableOf(report)), ...failures(report)].join('\n');
}

/** For the docs. */
export function renderMarkdown(report: Report): string {
  const facts = report.facts.map((fact) => `- ${fact}`);
  return [...facts, '', toMarkdown(tableOf(report)), ...failures(report), ''].join('\n');
}

/** For programs: the results, and the figures with budgets. */
export function renderJson({ facts, results, figures }: Report): string {
  const [ours] = results;
  const budgets = figures.flatMap((figure) => {
    const { budget } = figure;
    const value = valueOf(figure, ours);
    return budget === undefined ? [] : [{ figure: figure.label, value, budget, verdict: verdict(value, budget) }];
  });
  return `${JSON.stringify({ facts, results, budgets }, undefined, 2)}\n`;
}

/** A row for each figure that any program has. */
function tableOf({ results, figures }: Report): Table {
  const judged = figures.some(({ budget }) => budget !== undefined);
  const head = ['', ...results.map(({ name }) => name), judged ? 'budget' : '', ''];
  const rows = figures
    .filter(({ value }) => results.some((result) => value(result) !== undefined))
    .map((figure) => [
      figure.label,
      ...results.map((result) => format(figure.value(result), figure)),
      format(figure.budget, figure),
      verdict(valueOf(figure, results[0]), figure.budget) ?? '',
    ]);
  return [head, ...rows];
}

function failures({ results }: Report): string[] {
  return results.flatMap(({ name, failure }) => (failure === undefined ? [] : ['', `${name} failed: ${failure}`]));
}

function valueOf({ value }: Figure, result: Result | undefined): number | undefined {
  const found = result && value(result);
  return typeof found === 'number' ? found : undefined;
}

function format(value: number | VerbCounts | undefined, { unit, decimals }: Figure): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return `${value.toFixed(decimals)} ${unit}`.trimEnd();
  return Object.entries(value)
    .map(([verb, count]) => `${verb} ${count}`)
    .join(', ');
}
