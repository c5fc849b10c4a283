// The Vercel AI SDK, with its providers for OpenAI-compatible servers and for Anthropic.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Output, generateText, isStepCount, streamText, tool } from 'ai';
import assert from 'node:assert/strict';
import { z } from 'zod';
import { OUTPUT_TOKENS } from '../model.mjs';
import { SERVER, TOKEN, check } from './check.mjs';

// It does not know the models, and says so with every request.
globalThis.AI_SDK_LOG_WARNINGS = false;

const providers = {
  openai: createOpenAICompatible({ name: 'spaces', baseURL: `${SERVER}/v1`, apiKey: TOKEN, includeUsage: true, supportsStructuredOutputs: true }),
  anthropic: createAnthropic({ baseURL: `${SERVER}/v1`, apiKey: TOKEN }),
};

for (const [name, provider] of Object.entries(providers)) {
  await check(`${name}: generateText; the agent calls its own function`, async () => {
    const { text, finishReason, usage } = await generateText({ model: provider('planner'), prompt: '[case:own] Which train?' });
    assert.match(text, /IC-707/);
    assert.equal(finishReason, 'stop');
    assert.equal(usage.outputTokens, 2 * OUTPUT_TOKENS);
    return text;
  });

  await check(`${name}: streamText`, async () => {
    const result = streamText({ model: provider('planner'), prompt: '[case:own] Which train?', onError: () => {} });
    let [text, pieces] = ['', 0];
    for await (const piece of result.textStream) {
      text += piece;
      pieces += 1;
    }
    assert.match(text, /I look it up\.[^]*IC-707/);
    assert.ok(pieces > 3, `${pieces} pieces`);
    assert.equal((await result.usage).outputTokens, 2 * OUTPUT_TOKENS);
    return `${pieces} pieces: ${text}`;
  });

  await check(`${name}: streamText with tools, in several steps`, async () => {
    const asked = [];
    const weather = tool({
      description: 'Weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => (asked.push(city), { weather: 'snow-5' }),
    });
    const result = streamText({
      model: provider('planner'), prompt: '[case:both] Train and weather?', tools: { get_weather: weather }, stopWhen: isStepCount(4), onError: () => {},
    });
    await result.consumeStream();
    const steps = await result.steps;
    assert.match(await result.text, /snow-5/);
    assert.deepEqual(asked, ['Paris']);
    assert.deepEqual(steps.map((step) => step.finishReason), ['tool-calls', 'stop']);
    return `${steps.length} steps: ${await result.text}`;
  });

  await check(`${name}: a schema of the answer`, async () => {
    const output = Output.object({ schema: z.object({ train: z.string(), hour: z.number() }) });
    const result = await generateText({ model: provider('bare'), prompt: '[case:json]', output });
    assert.deepEqual(result.output, { train: 'IC-7', hour: 7 });
    return result.output;
  });

  await check(`${name}: an unknown agent is an error`, async () => {
    const error = await generateText({ model: provider('nobody'), prompt: '[case:plain]' }).then(
      () => assert.fail('it was answered'),
      (error) => error,
    );
    assert.equal(error.statusCode, 404, error);
    return error.message;
  });
}
