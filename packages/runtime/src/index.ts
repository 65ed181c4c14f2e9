export { endOnBrokenPipe } from './broken-pipe.ts';
export { startHealthServer, type Health } from './health-server.ts';
export { createLogger, type Logger } from './logger.ts';
export { metricsReference, type MetricTable } from './metric-table.ts';
export { beforeScrape, createMetrics, type Instruments, sampleLine, type Samples } from './metrics.ts';
export { addProcessMetrics } from './process-metrics.ts';
export { runUntilSignal } from './run-until-signal.ts';
export { leaderMetrics, sharedMetrics } from './shared-metrics.ts';
export { watchForStaleness } from './stale-file.ts';
