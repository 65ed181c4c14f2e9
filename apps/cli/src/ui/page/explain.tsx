import { useEffect, useRef, useState } from 'preact/hooks';
import type { Hop } from '../../explain/facts.ts';
import type { Explanation } from '../../explain/explain.ts';
import type { PairResult } from '../../explain/page.ts';
import { getJson } from './poll.ts';
import { Part, Result } from './table.tsx';

type Page = Explanation & { readonly ok: boolean; readonly pairs: readonly PairResult[] };
type Answer = Page | { readonly error: string };

const kinds = { ok: 'ok', warning: 'warning', wrong: 'problem', unknown: 'unknown', skipped: 'skipped' } as const;

/** `semaphore explain` as a form. */
export function Explain({ contexts }: { contexts: readonly string[] }) {
  const [answer, setAnswer] = useState<Answer | 'asked'>();
  const result = useRef<HTMLHeadingElement>(null);
  const ask = async (form: HTMLFormElement): Promise<void> => {
    setAnswer('asked');
    const fields = new URLSearchParams(
      [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']),
    );
    setAnswer(await getJson<Page>(`explain.json?${fields.toString()}`));
  };
  useEffect(() => result.current?.focus(), [answer]);
  const [here = 'c1', there = 'c2'] = contexts;
  return (
    <Part id="explain" title="Explain">
      <form
        class="explain"
        aria-labelledby="explain"
        onSubmit={(event) => {
          event.preventDefault();
          void ask(event.currentTarget);
        }}
      >
        <label for="from">From the Pod or workload</label>
        <input
          id="from"
          name="from"
          required
          placeholder={`${here}/shop/cart-1`}
          autocomplete="off"
          spellcheck={false}
        />
        <label for="to">To the Service, workload, Pod or DNS name</label>
        <input
          id="to"
          name="to"
          required
          placeholder={`${there}/shop/checkout:80`}
          autocomplete="off"
          spellcheck={false}
        />
        <label for="to-context">For a name that clusters share, in</label>
        <select id="to-context" name="to-context">
          <option value="">any</option>
          {contexts.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <button disabled={answer === 'asked'}>Explain</button>
      </form>
      <div aria-live="polite">
        {answer === 'asked' && <p>Following the packet …</p>}
        {answer !== undefined && answer !== 'asked' && (
          <h3 ref={result} tabIndex={-1}>
            {summaryOf(answer)}
          </h3>
        )}
      </div>
      {answer !== undefined && answer !== 'asked' && 'hops' in answer && (
        <ol class="hops">
          {answer.hops.map((hop) => (
            <HopItem key={hop.name} hop={hop} />
          ))}
        </ol>
      )}
      {answer !== undefined && answer !== 'asked' && 'pairs' in answer && answer.pairs.length > 1 && (
        <p>
          {answer.pairs.filter(({ ok }) => ok).length} of {answer.pairs.length} pairs of Pods are fine. This is the
          worst.
        </p>
      )}
    </Part>
  );
}

function summaryOf(answer: Answer): string {
  if ('error' in answer) return answer.error;
  const { from, to, firstWrong, ok } = answer;
  const isFine = ok && answer.hops.every(({ result }) => result !== 'warning');
  const verdict =
    firstWrong === null ? (isFine ? 'every hop is fine' : 'nothing known is wrong') : `first wrong: ${firstWrong}`;
  return `${from} to ${to}: ${verdict}`;
}

function HopItem({ hop: { name, result, detail, fix } }: { hop: Hop }) {
  return (
    <li>
      <Result kind={kinds[result]}>
        <strong>{name}</strong> {result}: {detail}
      </Result>
      {fix !== undefined && (
        <pre>
          <code>{fix}</code>
        </pre>
      )}
    </li>
  );
}
