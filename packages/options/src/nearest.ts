/**
 * The word that `raw` most likely means: the one with the fewest letters to insert, delete, replace or swap with
 * their neighbour, if these are at most a third of its letters. Of equals the first, so the answer never changes.
 */
export function nearest(raw: string, words: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Infinity;
  for (const word of words) {
    const edits = distance(raw, word);
    if (edits < fewest && edits <= word.length / 3) [best, fewest] = [word, edits];
  }
  return best;
}

/** Damerau-Levenshtein distance with adjacent swaps, row by row. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const here = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(above, column - 1) + Number(from[row - 1] !== to[column - 1]);
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwap ? at(before, column - 2) + 1 : Infinity;
      here.push(Math.min(at(above, column) + 1, at(here, column - 1) + 1, replaced, swapped));
    }
    [before, above] = [above, here];
  }
  return at(above, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
