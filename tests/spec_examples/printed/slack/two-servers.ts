// MCP tools become importable modules
import { slack } from '@capabilities/mcp-slack';
import { github } from '@capabilities/mcp-github';

// Use like regular async functions
const channels = await slack.listChannels();
const issues = await github.listIssues({ repo: 'owner/repo' });
