--- What the servers say of themselves, and one line of it for a status line.
local M = {}

M.METHOD = 'didChangeStatus'

---@class midfill.Status
---@field kind 'Normal'|'Warning'|'Error'|'Inactive'
---@field message string
---@field busy boolean

---@type midfill.Status
local NORMAL = { kind = 'Normal', message = '', busy = false }

---@type table<integer, midfill.Status>
local by_client = {}

---@param client_id? integer
local function announce(client_id)
  vim.api.nvim_exec_autocmds('User', { pattern = 'MidfillStatus', modeline = false, data = { client_id = client_id } })
  vim.cmd.redrawstatus({ bang = true })
end

--- The handler of the server's notification.
---@param _ any
---@param params midfill.Status
---@param context lsp.HandlerContext
function M.on_change(_, params, context)
  by_client[context.client_id] = vim.tbl_extend('force', NORMAL, params)
  announce(context.client_id)
end

--- Forget a server that has ended.
---@param client_id integer
function M.forget(client_id)
  by_client[client_id] = nil
  announce(client_id)
end

---@param client vim.lsp.Client
---@return midfill.Status
function M.of(client)
  return by_client[client.id] or NORMAL
end

---@class midfill.StatusFacts
---@field is_on boolean
---@field model string
---@field latency_ms? integer Of the last suggestion.

--- One line: empty where midfill is not.
---@param client? vim.lsp.Client
---@param facts midfill.StatusFacts
---@return string
function M.line(client, facts)
  if not client then
    return ''
  end
  local status = M.of(client)
  if not facts.is_on or status.kind == 'Inactive' then
    return 'midfill: off'
  end
  if status.kind ~= 'Normal' or status.busy then
    local text = status.message ~= '' and status.message or status.kind:lower()
    return 'midfill: ' .. vim.split(text, '\n', { plain = true })[1]
  end
  local latency = facts.latency_ms and (' %d ms'):format(facts.latency_ms) or ''
  return 'midfill: ' .. vim.fs.basename(facts.model) .. latency
end

return M
