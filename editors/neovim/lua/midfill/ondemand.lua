--- Commands of the server: how they are asked for, stopped, and what is done with what comes of them.
local say = require('midfill.say')

local M = {}

---@class midfill.Outcome What a command that edits answers.
---@field applied boolean
---@field message? string
---@field numHoles? integer
---@field edit? lsp.WorkspaceEdit Ours to make; only if the server could not have it made.
---@field inline? boolean Ghost text is to be asked for anew.

---@type table<vim.lsp.Client, table<integer, integer>> The buffers of the requests that are under way, by their ids.
local running = setmetatable({}, { __mode = 'k' })

--- The buffer, as the server is meant to have it. A table for each question, so that it can be added to.
---@param bufnr? integer
---@return { textDocument: lsp.VersionedTextDocumentIdentifier }
function M.document(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  return { textDocument = { uri = vim.uri_from_bufnr(bufnr), version = vim.lsp.util.buf_versions[bufnr] } }
end

---@param client vim.lsp.Client
---@return lsp.Position
function M.position(client)
  return vim.lsp.util.make_position_params(0, client.offset_encoding).position
end

---@param client vim.lsp.Client
---@param outcome midfill.Outcome
local function take(client, outcome)
  local preview = require('midfill.preview')
  if not outcome.applied and type(outcome.edit) == 'table' then
    vim.lsp.util.apply_workspace_edit(outcome.edit, client.offset_encoding)
  end
  local has_said_no = preview.take_refusal()
  if not has_said_no and type(outcome.message) == 'string' and outcome.message ~= '' then
    say.quietly(outcome.message)
  end
  if outcome.inline == true then
    require('midfill').fill()
  end
end

--- Have the server carry out a command. `on_result`: for those that do not edit.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param on_result? fun(result: any)
function M.execute(client, command, argument, on_result)
  local bufnr = vim.api.nvim_get_current_buf()
  local params = { command = command, arguments = { argument } }
  local id ---@type integer?
  running[client] = running[client] or {}
  local _, given = client:request('workspace/executeCommand', params, function(problem, result)
    if id and not running[client][id] then
      return -- it was stopped here: nobody wants to hear of it
    elseif id then
      running[client][id] = nil
    end
    if problem then
      say.quietly(problem.message)
    elseif on_result then
      on_result(result)
    elseif type(result) == 'table' then
      take(client, result)
    end
  end, bufnr)
  id = given
  if id then
    running[client][id] = bufnr
  end
end

--- Stop what is under way for a buffer.
---@param bufnr integer
---@return boolean has_stopped
function M.stop(bufnr)
  local has_stopped = false
  for client, buffers in pairs(running) do
    for id, of in pairs(buffers) do
      if of == bufnr then
        buffers[id] = nil
        has_stopped = true
        if not client:is_stopped() then
          client:cancel_request(id)
        end
      end
    end
  end
  return has_stopped
end

return M
