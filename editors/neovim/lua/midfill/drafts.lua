--- Shows the text of a fill on demand while it develops, in the place it is for. The buffer is not touched: each row of
--- the place is painted over, and rows that are more than there are stand below it.
local M = {}

M.METHOD = 'midfill/draft'
M.namespace = vim.api.nvim_create_namespace('midfill.drafts')

local LOCKED, OPEN, BEHIND = 'MidfillDraftLocked', 'MidfillDraftOpen', 'Normal'
local HIGHLIGHTS = { [LOCKED] = 'String', [OPEN] = 'NonText' }

---@alias midfill.Chunk [string, string]

---@type table<string, { bufnr: integer, marks: integer[] }> By client and token.
local drawn = {}

---@param key string
local function remove(key)
  local at = drawn[key]
  drawn[key] = nil
  if not at or not vim.api.nvim_buf_is_valid(at.bufnr) then
    return
  end
  for _, mark in ipairs(at.marks) do
    vim.api.nvim_buf_del_extmark(at.bufnr, M.namespace, mark)
  end
end

--- Define the highlights, unless a colour scheme or the user has.
function M.set_highlights()
  for name, link in pairs(HIGHLIGHTS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

---@param tokens { text: string, isLocked: boolean }[]
---@param tabstop integer
---@return midfill.Chunk[][] rows
local function rows_of(tokens, tabstop)
  local rows = { {} } ---@type midfill.Chunk[][]
  for _, token in ipairs(tokens) do
    local group = token.isLocked and LOCKED or OPEN
    for index, part in ipairs(vim.split(token.text, '\n', { plain = true })) do
      if index > 1 then
        table.insert(rows, {})
      end
      table.insert(rows[#rows], { (part:gsub('\t', (' '):rep(tabstop))), group })
    end
  end
  return rows
end

---@param chunks midfill.Chunk[]
---@return integer
local function width_of(chunks)
  return vim.iter(chunks):fold(0, function(width, chunk)
    return width + vim.fn.strdisplaywidth(chunk[1])
  end)
end

---@class midfill.DraftPlace In bytes, rows from 0.
---@field bufnr integer
---@field row integer
---@field col integer
---@field last_row integer
---@field last_col integer

---@param params table
---@param encoding string
---@return midfill.DraftPlace? Nil: the text that it is for is gone, or nobody looks at it.
local function place_of(params, encoding)
  local bufnr, version = vim.uri_to_bufnr(params.textDocument.uri), params.textDocument.version
  if type(version) == 'number' and version ~= vim.lsp.util.buf_versions[bufnr] then
    return nil
  end
  local first, last = params.range.start, params.range['end']
  if vim.api.nvim_get_current_buf() ~= bufnr or last.line >= vim.api.nvim_buf_line_count(bufnr) then
    return nil
  end
  ---@param position lsp.Position
  local function column(position)
    local line = vim.api.nvim_buf_get_lines(bufnr, position.line, position.line + 1, false)[1]
    return vim.str_byteindex(line, encoding, position.character, false)
  end
  return { bufnr = bufnr, row = first.line, col = column(first), last_row = last.line, last_col = column(last) }
end

--- What is put over a row, wide enough to hide what stands there.
---@param place midfill.DraftPlace
---@param row integer
---@param chunks midfill.Chunk[]
---@return integer mark
local function paint(place, row, chunks)
  local col = row == place.row and place.col or 0
  local line = vim.api.nvim_buf_get_lines(place.bufnr, row, row + 1, false)[1]
  local before = vim.fn.strdisplaywidth(line:sub(1, col))
  local missing = vim.fn.strdisplaywidth(line) - before - width_of(chunks)
  table.insert(chunks, { (' '):rep(math.max(missing, 0)), BEHIND })
  return vim.api.nvim_buf_set_extmark(place.bufnr, M.namespace, row, col, {
    virt_text = chunks,
    virt_text_pos = 'overlay',
  })
end

---@param place midfill.DraftPlace
---@param rows midfill.Chunk[][]
---@return integer[] marks
local function draw(place, rows)
  local last_line = vim.api.nvim_buf_get_lines(place.bufnr, place.last_row, place.last_row + 1, false)[1]
  local behind = last_line:sub(place.last_col + 1)
  if behind ~= '' then
    table.insert(rows[#rows], { behind, BEHIND })
  end
  local marks = {}
  for row = place.row, place.last_row do
    table.insert(marks, paint(place, row, rows[row - place.row + 1] or {}))
  end
  local below = vim.list_slice(rows, place.last_row - place.row + 2)
  if #below > 0 then
    table.insert(
      marks,
      vim.api.nvim_buf_set_extmark(place.bufnr, M.namespace, place.last_row, 0, { virt_lines = below })
    )
  end
  return marks
end

--- The handler of the server's notification. A draft of a text that is gone is not shown, nor one over ghost text.
function M.on_draft(_, params, context)
  local key = context.client_id .. '/' .. params.token
  remove(key)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local place = not params.isDone and client and place_of(params, client.offset_encoding)
  if not place or require('midfill.ghost').is_shown(place.bufnr) then
    return
  end
  M.set_highlights()
  local rows = rows_of(params.tokens, vim.bo[place.bufnr].tabstop)
  drawn[key] = { bufnr = place.bufnr, marks = draw(place, rows) }
end

--- Take away what is drawn in a buffer: its text is another, or it is left.
---@param bufnr integer
function M.clear(bufnr)
  for key, at in pairs(drawn) do
    if at.bufnr == bufnr then
      remove(key)
    end
  end
end

return M
