--- Ghost text through vim.lsp.inline_completion of Neovim 0.12, which shows it, and without the faults it has there.
---
--- It waits 200 ms for the next key, cancels nothing while somebody types, takes answers to a text that is gone, keeps
--- its text on <C-c> and under a popup menu, and accepts what no longer fits. So its questions are answered by us: they
--- are asked at once and but once (see midfill.request), and the answer is handed to it as if to its own question.
local apply = require('midfill.apply')
local request = require('midfill.request')
local suggestions = require('midfill.suggestion')

---@type midfill.Ghost
local M = {}

local NAMESPACE = 'nvim.lsp.inline_completion'

---@class midfill.Answer
---@field items lsp.InlineCompletionItem[]
---@field context lsp.HandlerContext

---@class midfill.BuiltinState
---@field client vim.lsp.Client
---@field shown midfill.Suggestion[]
---@field hand_over? lsp.Handler The built-in's; nil until it has asked for the first time.
---@field waiting? midfill.Answer Came before that.

---@type table<integer, midfill.BuiltinState> By buffer.
local states = {}

---@param bufnr integer
---@param suggestion midfill.Suggestion
---@return midfill.Rest?
local function rest_of(bufnr, suggestion)
  local cursor = vim.api.nvim_win_get_cursor(0)
  return suggestions.rest(suggestion, bufnr, cursor[1] - 1, cursor[2])
end

--- The text that is on the screen, without the count of suggestions behind it; nil if there is none.
---@param bufnr integer
---@return string?
local function drawn_text(bufnr)
  local namespace = vim.api.nvim_create_namespace(NAMESPACE)
  local mark = vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { limit = 1, details = true })[1]
  if not mark then
    return nil
  end
  local rows = { mark[4].virt_text[1][1] }
  for _, row in ipairs(mark[4].virt_lines or {}) do
    table.insert(rows, row[1][1])
  end
  return table.concat(rows, '\n')
end

--- The suggestion that is on the screen, if it still fits, and what is left of it.
---@param bufnr integer
---@return midfill.Rest?
local function shown_rest(bufnr)
  local state = states[bufnr]
  local text = state and vim.api.nvim_get_current_buf() == bufnr and drawn_text(bufnr)
  if not text then
    return nil
  end
  local suggestion = vim.iter(state.shown):find(function(one)
    return vim.endswith(one.text, text)
  end)
  return suggestion and rest_of(bufnr, suggestion)
end

---@param state midfill.BuiltinState
---@param items lsp.InlineCompletionItem[]
---@param context lsp.HandlerContext
local function hand_over(state, items, context)
  -- It fails if the user has switched inline completion off and on meanwhile; the built-in then asks anew.
  if state.hand_over and not pcall(state.hand_over, nil, { items = items }, context) then
    state.hand_over = nil
  end
end

---@param bufnr integer
---@param handler lsp.Handler
local function on_question(bufnr, handler)
  local state = states[bufnr]
  if not state then
    return
  end
  state.hand_over = handler
  local waiting = state.waiting
  if waiting then
    M.show(bufnr, waiting.items, waiting.context)
  else
    require('midfill.ghost').refresh(bufnr)
  end
end

function M.attach(client, bufnr)
  states[bufnr] = { client = client, shown = {} }
  request.intercept(client, on_question)
  vim.lsp.inline_completion.enable(true, { bufnr = bufnr })
end

function M.detach(bufnr)
  states[bufnr] = nil
end

function M.show(bufnr, items, context)
  local state = states[bufnr]
  if not state then
    return
  end
  if not state.hand_over then
    state.waiting = { items = items, context = context }
    return
  end
  state.waiting = nil
  state.shown = suggestions.from_items(items, bufnr, context.client_id)
  local fitting = vim.tbl_map(function(suggestion)
    return suggestion.item
  end, state.shown)
  hand_over(state, fitting, context)
end

function M.settle(bufnr)
  if drawn_text(bufnr) and not M.is_shown(bufnr) then
    M.clear(bufnr)
  end
end

function M.clear(bufnr)
  local state = states[bufnr]
  if not state then
    return
  end
  state.shown, state.waiting = {}, nil
  if vim.api.nvim_get_mode().mode:sub(1, 1) == 'i' then
    hand_over(state, {}, { client_id = state.client.id })
    return
  end
  -- Out of insert mode the built-in takes no answers. To make it forget, accept, and say no.
  vim.lsp.inline_completion.get({
    bufnr = bufnr,
    on_accept = function()
      return nil
    end,
  })
end

function M.is_shown(bufnr)
  return shown_rest(bufnr) ~= nil
end

-- Not by the built-in's `get`, which does it a moment later, when something else may have been typed.
function M.accept(bufnr, portion)
  local rest = shown_rest(bufnr)
  if not rest then
    return false
  end
  apply.accept(states[bufnr].client, bufnr, rest, portion)
  -- To the built-in a word is as if typed; what goes over more than a line it cannot follow.
  local is_typed_through = portion == 'word' and vim.api.nvim_win_get_cursor(0)[1] - 1 == rest.row
  if not (is_typed_through and M.is_shown(bufnr)) then
    M.clear(bufnr)
  end
  return true
end

function M.count(bufnr)
  return M.is_shown(bufnr) and #states[bufnr].shown or 0
end

function M.select(bufnr, count)
  vim.lsp.inline_completion.select({ bufnr = bufnr, count = count })
end

return M
