--- Ghost text through vim.lsp.inline_completion of Neovim 0.12, which shows it, and without the faults it has there.
---
--- It waits 200 ms for the next key, cancels nothing while somebody types, takes answers to a text that is gone, keeps
--- its text on <C-c> and under a popup menu, and accepts what no longer fits. So its questions are answered by us: asked
--- at once and once (see midfill.request), the answer handed to it as if it were the answer to its own.
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

---@param bufnr integer
---@return boolean
local function is_drawn(bufnr)
  local namespace = vim.api.nvim_create_namespace(NAMESPACE)
  return #vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { limit = 1 }) > 0
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
  -- It fails if the user has switched inline completion off and on meanwhile; the built-in then asks anew.
  if not pcall(state.hand_over, nil, { items = fitting }, context) then
    state.hand_over = nil
  end
end

function M.settle(bufnr)
  if is_drawn(bufnr) and not M.is_shown(bufnr) then
    M.clear(bufnr)
  end
end

function M.clear(bufnr)
  local state = states[bufnr]
  if not state then
    return
  end
  state.shown, state.waiting = {}, nil
  -- The only public way to make the built-in forget: accept, and say no.
  vim.lsp.inline_completion.get({
    bufnr = bufnr,
    on_accept = function()
      return nil
    end,
  })
end

function M.is_shown(bufnr)
  local state = states[bufnr]
  if not state or vim.api.nvim_get_current_buf() ~= bufnr or not is_drawn(bufnr) then
    return false
  end
  return vim.iter(state.shown):any(function(suggestion)
    return rest_of(bufnr, suggestion) ~= nil
  end)
end

function M.accept(bufnr, portion)
  if not M.is_shown(bufnr) then
    return false
  end
  local client, shown = states[bufnr].client, states[bufnr].shown
  return vim.lsp.inline_completion.get({
    bufnr = bufnr,
    on_accept = function(item)
      local suggestion = vim.iter(shown):find(function(one)
        return one.item.insertText == item.insert_text
      end)
      local rest = suggestion and rest_of(bufnr, suggestion)
      if rest then
        apply.accept(client, bufnr, rest, portion)
      end
      return nil
    end,
  })
end

function M.count(bufnr)
  return M.is_shown(bufnr) and #states[bufnr].shown or 0
end

function M.select(bufnr, count)
  vim.lsp.inline_completion.select({ bufnr = bufnr, count = count })
end

return M
