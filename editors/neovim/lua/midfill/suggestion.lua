--- A suggestion as the buffer sees it, in bytes, and what is left of it after somebody has typed on.
local M = {}

---@class midfill.Suggestion
---@field row integer Row of the cursor it was made for, from 0.
---@field col integer Byte column of that cursor.
---@field text string What goes in there.
---@field absorbed string What stands right of there and goes away.
---@field tail string All that stood right of there.
---@field command? lsp.Command Run when all of it has been accepted.
---@field item lsp.InlineCompletionItem What it was made from.

---@class midfill.Rest
---@field row integer Where the cursor is now, from 0.
---@field col integer
---@field text string
---@field absorbed string
---@field tail string
---@field command? lsp.Command

---@param bufnr integer
---@param row integer
---@return string
local function line_at(bufnr, row)
  return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
end

--- An item of the server for the cursor as it is now; nil if it cannot be shown there.
---@param item lsp.InlineCompletionItem
---@param bufnr integer
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@param row integer
---@param col integer
---@return midfill.Suggestion?
function M.from_item(item, bufnr, encoding, row, col)
  local text, line = item.insertText, line_at(bufnr, row)
  if type(text) ~= 'string' then
    return nil -- a snippet, which the server does not send
  end
  local first, last = col, col
  if item.range then
    if item.range.start.line ~= row or item.range['end'].line ~= row then
      return nil
    end
    first = vim.str_byteindex(line, encoding, item.range.start.character, false)
    last = vim.str_byteindex(line, encoding, item.range['end'].character, false)
  end
  local typed = line:sub(first + 1, col)
  if first > col or last < col or not vim.startswith(text, typed) or text == typed then
    return nil
  end
  return {
    row = row,
    col = col,
    text = text:sub(#typed + 1),
    absorbed = line:sub(col + 1, last),
    tail = line:sub(col + 1),
    command = item.command,
    item = item,
  }
end

--- Those of an answer that can be shown at the cursor of the current window.
---@param items lsp.InlineCompletionItem[]
---@param bufnr integer
---@param client_id integer
---@return midfill.Suggestion[]
function M.from_items(items, bufnr, client_id)
  local client = assert(vim.lsp.get_client_by_id(client_id))
  local cursor = vim.api.nvim_win_get_cursor(0)
  local found = {}
  for _, item in ipairs(items) do
    table.insert(found, M.from_item(item, bufnr, client.offset_encoding, cursor[1] - 1, cursor[2]))
  end
  return found
end

--- What is left of it at the cursor (row and column from 0); nil if what was typed since is something else.
---@param suggestion midfill.Suggestion
---@param bufnr integer
---@param row integer
---@param col integer
---@return midfill.Rest?
function M.rest(suggestion, bufnr, row, col)
  local has_moved_back = row < suggestion.row or row == suggestion.row and col < suggestion.col
  if has_moved_back or line_at(bufnr, row):sub(col + 1) ~= suggestion.tail then
    return nil
  end
  if #line_at(bufnr, suggestion.row) < suggestion.col then
    return nil
  end
  local typed = vim.api.nvim_buf_get_text(bufnr, suggestion.row, suggestion.col, row, col, {})
  local text = table.concat(typed, '\n')
  if not vim.startswith(suggestion.text, text) or suggestion.text == text then
    return nil
  end
  return vim.tbl_extend('force', suggestion, { row = row, col = col, text = suggestion.text:sub(#text + 1) })
end

---@alias midfill.Portion 'all'|'word'|'line'

local WORD = '[%w_\128-\255]+'

--- The first part of a text that a key accepts.
---@param text string
---@param portion midfill.Portion
---@return string
function M.cut(text, portion)
  if portion == 'word' then
    return text:match('^%s*' .. WORD) or text:match('^%s*[^%w_%s\128-\255]+') or text
  elseif portion == 'line' then
    return text:match('^\n*[^\n]+') or text
  end
  return text
end

return M
