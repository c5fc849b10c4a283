// capabilities/company-crm.ts
import { defineTool } from '@agent-spaces/capabilities';

export const crm = defineTool({
  name: 'crm',
  description: 'Company CRM system',
  
  functions: {
    searchCustomers: {
      description: 'Search for customers',
      parameters: {
        query: { type: 'string', required: true },
        limit: { type: 'number', default: 10 },
      },
      returns: {} as Customer[],
      handler: async ({ query, limit }) => {
        return await crmApi.search(query, limit);
      },
    },
    
    createTicket: {
      description: 'Create support ticket',
      parameters: {
        customerId: { type: 'string', required: true },
        subject: { type: 'string', required: true },
        priority: { type: 'string', enum: ['low', 'medium', 'high'] },
      },
      returns: {} as Ticket,
      requiresApproval: true,
      approvalMessage: (p) => `Create ${p.priority} ticket for customer ${p.customerId}?`,
      handler: async (params) => {
        return await crmApi.createTicket(params);
      },
    },
  },
});
