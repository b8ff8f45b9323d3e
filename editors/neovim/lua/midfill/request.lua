--- Asks the server for ghost text: one question at a time for a buffer, and only an answer to what is there now counts.
---
--- The server waits for the next key, stops what is superseded and answers from what it has suggested before; here is
--- nothing of that.
local M = {}

M.METHOD = 'textDocument/inlineCompletion'

---@enum midfill.Kind
M.KIND = { INVOKED = 1, AUTOMATIC = 2 }

---@class midfill.Question
---@field place string
---@field id? integer The request's; nil: it has been answered, or its answer is not wanted.

---@type table<integer, midfill.Question> By buffer: the latest question.
local latest = {}

---@type table<integer, integer> By client: how long the last answer with something in it took, in milliseconds.
local latencies = {}

---@type table<integer, fun(client: vim.lsp.Client, ...): boolean, integer?> By client: how it sends, if intercepted.
local senders = {}

--- Have what others ask of a client for ghost text go to `on_question` instead of to the server.
---@param client vim.lsp.Client
---@param on_question fun(bufnr: integer, handler: lsp.Handler)
function M.intercept(client, on_question)
  if senders[client.id] then
    return
  end
  local send = client.request
  senders[client.id] = send
  ---@diagnostic disable-next-line: duplicate-set-field
  function client.request(self, method, params, handler, bufnr)
    if self == client and method == M.METHOD and handler then
      on_question((bufnr or 0) > 0 and bufnr or vim.api.nvim_get_current_buf(), handler)
      return true
    end
    return send(self, method, params, handler, bufnr)
  end
end

--- A text and a cursor in it; nil if nobody types in the buffer.
---@param bufnr integer
---@return string?
function M.place(bufnr)
  if vim.api.nvim_get_current_buf() ~= bufnr or vim.api.nvim_get_mode().mode:sub(1, 1) ~= 'i' then
    return nil
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  return ('%d %d %d'):format(vim.api.nvim_buf_get_changedtick(bufnr), cursor[1], cursor[2])
end

--- Whether the text and the cursor, as they are, have been asked for; an answer may still be to come.
---@param bufnr integer
---@return boolean
function M.is_asked(bufnr)
  return latest[bufnr] ~= nil and latest[bufnr].place == M.place(bufnr)
end

--- No answer is wanted for what is there now.
---@param client vim.lsp.Client
---@param bufnr integer
function M.drop(client, bufnr)
  local question = latest[bufnr]
  local id = question and question.id
  if id then
    question.id = nil
    if not client:is_stopped() then
      client:cancel_request(id)
    end
  end
end

--- How long the last suggestion took; nil if there was none yet.
---@param client vim.lsp.Client
---@return integer? milliseconds
function M.latency(client)
  return latencies[client.id]
end

--- As if nothing had been asked.
---@param client vim.lsp.Client
---@param bufnr integer
function M.forget(client, bufnr)
  M.drop(client, bufnr)
  latest[bufnr] = nil
end

---@param client vim.lsp.Client
---@param bufnr integer
---@param kind midfill.Kind
---@param on_answer fun(items: lsp.InlineCompletionItem[], context: lsp.HandlerContext) Called at most once, and only if
---        neither text nor cursor are others by then.
function M.ask(client, bufnr, kind, on_answer)
  local place = M.place(bufnr)
  if not place or client:is_stopped() then
    return
  end
  M.forget(client, bufnr)
  local question = { place = place } ---@type midfill.Question
  latest[bufnr] = question
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding) --[[@as lsp.InlineCompletionParams]]
  params.context = { triggerKind = kind }
  local send, asked_at = senders[client.id] or client.request, vim.uv.hrtime()
  local _, id = send(client, M.METHOD, params, function(problem, result, context)
    if latest[bufnr] ~= question or not question.id then
      return
    end
    question.id = nil
    if problem or M.place(bufnr) ~= place or vim.fn.pumvisible() == 1 then
      latest[bufnr] = nil
      return
    end
    local items = result and (result.items or result) or {}
    if #items > 0 then
      latencies[client.id] = math.floor((vim.uv.hrtime() - asked_at) / 1e6 + 0.5)
    end
    on_answer(items, context)
  end, bufnr)
  question.id = id
end

return M
