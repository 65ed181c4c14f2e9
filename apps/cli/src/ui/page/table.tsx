import type { ComponentChildren } from 'preact';
import { PAGE_ROWS, type Rows } from '../rows.ts';

type Column<T> = { readonly heading: string; readonly cell: (row: T) => ComponentChildren };

type Props<T> = {
  /** Of the heading, and in links. */
  readonly id: string;
  readonly title: string;
  readonly list: Rows<T>;
  /** The first is the heading of its row. */
  readonly columns: readonly Column<T>[];
  /** If there are no rows. */
  readonly empty: string;
  readonly onPage: (from: number) => void;
};

/** A part of the page with a heading. */
export function Part({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </section>
  );
}

/** Some rows of a list, and buttons for the others. */
export function List<T>({ id, title, list, columns, empty, onPage }: Props<T>) {
  return (
    <Part id={id} title={`${title} (${list.total.toLocaleString('en')})`}>
      {list.total === 0 ? <p>{empty}</p> : <Table label={id} columns={columns} rows={list.rows} />}
      {list.total > PAGE_ROWS && <Pager title={title} list={list} onPage={onPage} />}
    </Part>
  );
}

function Table<T>({ label, columns, rows }: { label: string; columns: readonly Column<T>[]; rows: readonly T[] }) {
  return (
    <div class="scroll" role="group" aria-labelledby={label} tabIndex={0}>
      <table aria-labelledby={label}>
        <thead>
          <tr>
            {columns.map(({ heading }) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {columns.map(({ heading, cell }, column) =>
                column === 0 ? (
                  <th key={heading} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={heading}>{cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Pager<T>({ title, list: { from, total }, onPage }: Pick<Props<T>, 'title' | 'list' | 'onPage'>) {
  const end = Math.min(total, from + PAGE_ROWS);
  return (
    <p class="pager">
      <button type="button" disabled={from === 0} onClick={() => onPage(from - PAGE_ROWS)}>
        Previous {title.toLowerCase()}
      </button>
      <span>
        {from + 1} to {end} of {total.toLocaleString('en')}
      </span>
      <button type="button" disabled={end === total} onClick={() => onPage(from + PAGE_ROWS)}>
        Next {title.toLowerCase()}
      </button>
    </p>
  );
}

export const signs = { ok: '✓', warning: '!', problem: '✗', unknown: '?', skipped: '-' } as const;

/** A result in words, with a sign and a colour. */
export function Result({ kind, children }: { kind: keyof typeof signs; children: ComponentChildren }) {
  return (
    <span class={kind}>
      <span aria-hidden="true">{signs[kind]}</span> {children}
    </span>
  );
}
