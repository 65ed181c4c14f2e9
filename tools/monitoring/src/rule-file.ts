import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

/** Where what people load into Prometheus and Grafana lies. */
export const monitoring = fileURLToPath(new URL('../../../monitoring/', import.meta.url));

const alertRule = z.strictObject({
  alert: z.string().regex(/^Semaphore[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']), app: z.string() }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook: z.string() }),
});

const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alertRule) })).length(1),
});

/** As far as it says which alerts are tested how. */
const testFile = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      alert_rule_test: z.array(
        z.object({ eval_time: z.string(), alertname: z.string(), exp_alerts: z.array(z.unknown()).default([]) }),
      ),
    }),
  ),
});

export type AlertRule = z.infer<typeof alertRule>;

/** The alerts of an app, and what promtool is told to expect of them. */
export type AppAlerts = {
  readonly app: string;
  readonly rules: readonly AlertRule[];
  readonly tests: z.infer<typeof testFile>['tests'];
};

/** @throws {z.ZodError} if a file isn't of the form that all are */
export function readAlerts(): readonly AppAlerts[] {
  return readdirSync(join(monitoring, 'rules')).map((file) => {
    const read = (folder: string): unknown => parse(readFileSync(join(monitoring, folder, file), 'utf8'));
    const [group] = ruleFile.parse(read('rules')).groups;
    return { app: group!.name, rules: group!.rules, tests: testFile.parse(read('tests')).tests };
  });
}
