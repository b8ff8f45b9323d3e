--- Ghost text of our own, for Neovim without vim.lsp.inline_completion or for those who prefer it.
local apply = require('midfill.apply')
local drawing = require('midfill.ghost.drawing')
local suggestions = require('midfill.suggestion')

---@type midfill.Ghost
local M = {}

M.namespace = vim.api.nvim_create_namespace('midfill')

---@class midfill.OwnState
---@field client vim.lsp.Client
---@field shown midfill.Suggestion[]
---@field index integer

---@type table<integer, midfill.OwnState> By buffer.
local states = {}

---@param bufnr integer
---@return midfill.Rest?
local function rest_of(bufnr)
  local state = states[bufnr]
  local suggestion = state and state.shown[state.index]
  if not suggestion or vim.api.nvim_get_current_buf() ~= bufnr then
    return nil
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  return suggestions.rest(suggestion, bufnr, cursor[1] - 1, cursor[2])
end

---@param bufnr integer
local function hide(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
  end
end

---@param bufnr integer
---@param hint? string
local function redraw(bufnr, hint)
  hide(bufnr)
  local rest = rest_of(bufnr)
  if rest then
    drawing.draw(bufnr, M.namespace, rest, hint)
  end
end

function M.attach(client, bufnr)
  hide(bufnr)
  states[bufnr] = { client = client, shown = {}, index = 1 }
end

function M.detach(bufnr)
  states[bufnr] = nil
  hide(bufnr)
end

function M.show(bufnr, items, context)
  local state = states[bufnr]
  if state then
    state.shown, state.index = suggestions.from_items(items, bufnr, context.client_id), 1
    redraw(bufnr)
  end
end

function M.settle(bufnr)
  redraw(bufnr)
end

function M.clear(bufnr)
  local state = states[bufnr]
  if state then
    state.shown = {}
    hide(bufnr)
  end
end

function M.is_shown(bufnr)
  return rest_of(bufnr) ~= nil
end

function M.accept(bufnr, portion)
  local state, rest = states[bufnr], rest_of(bufnr)
  if not rest then
    return false
  end
  apply.accept(state.client, bufnr, rest, portion)
  redraw(bufnr)
  return true
end

function M.count(bufnr)
  return M.is_shown(bufnr) and #states[bufnr].shown or 0
end

function M.select(bufnr, count)
  local state = states[bufnr]
  state.index = (state.index - 1 + count) % #state.shown + 1
  redraw(bufnr, ('(%d/%d)'):format(state.index, #state.shown))
end

return M
