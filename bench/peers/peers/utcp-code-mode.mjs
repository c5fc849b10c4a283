import { readFileSync } from 'node:fs';
import { desk } from '../desk.mjs';
import { marked } from '../marks.mjs';

const definition = JSON.parse(readFileSync(new URL('../../workloads/desk.json', import.meta.url), 'utf8'));
const clockFunctions = [{ name: 'mark', description: 'Looks at the clock', parameters: { type: 'object' }, returns: { type: 'number' } }];

export default {
  name: 'utcp-code-mode',
  title: '@utcp/code-mode, an isolate of isolated-vm to each run',
  isolation: 'own heap, one process',
  packages: ['@utcp/code-mode', '@utcp/sdk', 'isolated-vm'],
  node: 22,
  cannot: ({ kind }) => (kind === 'agent' ? 'making an isolate and evaluating are one call; its engine is that of isolated-vm' : null),
  async open() {
    // Its client prints a line for each call.
    console.log = () => {};
    const sdk = await import('@utcp/sdk');
    const { CodeModeUtcpClient } = await import('@utcp/code-mode');
    const manuals = addProtocol(sdk);
    const clientOf = async (name, functions, described) => {
      manuals.set(name, { functions, described });
      const client = await CodeModeUtcpClient.create();
      await client.registerManual({ name, call_template_type: 'here' });
      return client;
    };
    const client = await clientOf('desk', desk, definition.functions);
    return {
      fresh: async () => ({
        async evaluate({ body, kind }) {
          if (kind !== 'kernel') return answerOf(client, body);
          const { js, clock, elapsed } = marked(body, 'clock.mark({})');
          const answer = await answerOf(await clientOf('clock', clock, clockFunctions), js);
          this.microseconds = elapsed();
          return answer;
        },
        dispose() {},
      }),
    };
  },
};

async function answerOf(client, code) {
  const { result, logs } = await client.callToolChain(code);
  if (result === null) throw new Error(logs.join('\n'));
  return result;
}

// Tools of UTCP are reached by protocols; this one calls functions in this process.
function addProtocol({ CallTemplateSerializer, CommunicationProtocol, Serializer }) {
  const manuals = new Map();
  class AsItIs extends Serializer {
    toDict = (template) => template;
    validateDict = (template) => template;
  }
  class Here extends CommunicationProtocol {
    async registerManual(_client, template) {
      const tools = manuals.get(template.name).described.map((described) => toolOf(described, template));
      const manual = { utcp_version: '1.0.0', manual_version: '1.0.0', tools };
      return { success: true, manualCallTemplate: template, manual, errors: [] };
    }

    async callTool(_client, fullName, params) {
      const [manual, name] = fullName.split('.');
      return manuals.get(manual).functions[name](params);
    }
  }
  CallTemplateSerializer.registerCallTemplate('here', new AsItIs());
  CommunicationProtocol.communicationProtocols.here = new Here();
  return manuals;
}

function toolOf({ name, description, parameters, returns }, template) {
  return { name, description, inputs: parameters, outputs: returns, tags: [], tool_call_template: template };
}
