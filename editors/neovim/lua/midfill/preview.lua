--- Edits that the server wants confirmed are shown as a diff in a floating window before they are made. Neovim itself
--- makes them without asking.
local M = {}

local KEYS = ' y put in · n discard · r another draft '
local MAX_HEIGHT_SHARE = 0.6
local NEXT_DRAFT = 'midfill.nextDraft'

local has_refused = false

--- Whether the last edit was turned down here; then nobody needs to be told that it was not made.
---@return boolean
function M.take_refusal()
  local refused = has_refused
  has_refused = false
  return refused
end

---@param edit lsp.WorkspaceEdit
---@return boolean
local function needs_confirmation(edit)
  return vim.iter(pairs(edit.changeAnnotations or {})):any(function(_, annotation)
    return annotation.needsConfirmation == true
  end)
end

---@param edit lsp.WorkspaceEdit
---@return lsp.TextDocumentEdit? The only one there is; nil if there are others, or none.
local function only_change(edit)
  local changes = edit.documentChanges or {}
  return #changes == 1 and changes[1].edits and changes[1] or nil
end

---@param change lsp.TextDocumentEdit
---@return boolean
local function is_stale(change)
  local version = change.textDocument.version
  local now = vim.lsp.util.buf_versions[vim.uri_to_bufnr(change.textDocument.uri)]
  return type(version) == 'number' and version ~= now
end

--- The text of the buffer with an edit made: in a buffer nobody sees.
---@param bufnr integer
---@param change lsp.TextDocumentEdit
---@param encoding string
---@return string[] before
---@return string[] after
local function both(bufnr, change, encoding)
  local before = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, before)
  local plain = vim.tbl_map(function(edit)
    return { range = edit.range, newText = edit.newText }
  end, change.edits)
  vim.lsp.util.apply_text_edits(plain, scratch, encoding)
  local after = vim.api.nvim_buf_get_lines(scratch, 0, -1, false)
  vim.api.nvim_buf_delete(scratch, { force = true })
  return before, after
end

--- A unified diff without its heads.
---@param before string[]
---@param after string[]
---@return string[]
local function diff(before, after)
  local make = vim.text and vim.text.diff or vim.diff
  local function joined(lines)
    return table.concat(lines, '\n') .. '\n'
  end
  local told = make(joined(before), joined(after), { ctxlen = 2 }) --[[@as string]]
  local lines = vim.split(vim.trim(told), '\n', { plain = true })
  return vim.tbl_filter(function(line)
    return not vim.startswith(line, '@@') and not vim.startswith(line, '\\ No newline')
  end, lines)
end

---@param lines string[]
---@param title string
---@return integer window
local function open(lines, title)
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
  vim.bo[scratch].modifiable = false
  vim.bo[scratch].bufhidden = 'wipe'
  vim.bo[scratch].filetype = 'diff'
  local width = vim.fn.strdisplaywidth(KEYS)
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  return vim.api.nvim_open_win(scratch, true, {
    relative = 'cursor',
    row = 1,
    col = 0,
    width = math.max(math.min(width, vim.o.columns - 4), 1),
    height = math.max(math.min(#lines, math.floor(vim.o.lines * MAX_HEIGHT_SHARE)), 1),
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. title .. ' ',
    footer = KEYS,
  })
end

---@alias midfill.Choice 'accept'|'discard'|'again'

--- Have the user choose. Leaving the window is to discard.
---@param lines string[]
---@param title string
---@param on_choice fun(choice: midfill.Choice) Called once.
function M.ask(lines, title, on_choice)
  vim.cmd.stopinsert()
  local window = open(lines, title)
  local bufnr = vim.api.nvim_win_get_buf(window)
  local is_chosen = false
  ---@param choice midfill.Choice
  local function choose(choice)
    if is_chosen then
      return
    end
    is_chosen = true
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    on_choice(choice)
  end
  local keys = { y = 'accept', ['<CR>'] = 'accept', n = 'discard', q = 'discard', ['<Esc>'] = 'discard', r = 'again' }
  for key, choice in pairs(keys) do
    vim.keymap.set('n', key, function()
      choose(choice)
    end, { buffer = bufnr, nowait = true, desc = 'midfill: ' .. choice })
  end
  vim.api.nvim_create_autocmd('WinLeave', {
    buffer = bufnr,
    once = true,
    callback = vim.schedule_wrap(function()
      choose('discard')
    end),
  })
end

---@param edit lsp.WorkspaceEdit
---@param client vim.lsp.Client
---@return lsp.ApplyWorkspaceEditResult
local function make(edit, client)
  local change = only_change(edit)
  if change and is_stale(change) then
    return { applied = false, failureReason = 'the document has changed' }
  end
  if change then
    require('midfill.apply').break_undo(vim.uri_to_bufnr(change.textDocument.uri))
  end
  local is_ok, problem = pcall(vim.lsp.util.apply_workspace_edit, edit, client.offset_encoding)
  return { applied = is_ok, failureReason = not is_ok and tostring(problem) or nil }
end

---@param client vim.lsp.Client
---@param change lsp.TextDocumentEdit
local function ask_again(client, change)
  local ondemand = require('midfill.ondemand')
  local argument = ondemand.document(vim.uri_to_bufnr(change.textDocument.uri))
  ondemand.execute(client, NEXT_DRAFT, argument)
end

--- The handler of workspace/applyEdit. Neovim runs it in a coroutine: the answer may wait for the user.
---@param _ any
---@param params lsp.ApplyWorkspaceEditParams
---@param context lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
function M.on_apply_edit(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local edit = params.edit
  local change = only_change(edit)
  local co, is_main = coroutine.running()
  local bufnr = change and vim.uri_to_bufnr(change.textDocument.uri)
  if not (change and bufnr and needs_confirmation(edit)) or is_main then
    return make(edit, client)
  end
  if vim.api.nvim_get_current_buf() ~= bufnr then
    return { applied = false, failureReason = 'its buffer was left' }
  end
  local before, after = both(bufnr, change, client.offset_encoding)
  M.ask(diff(before, after), params.label or 'midfill', function(chosen)
    local is_ok, problem = coroutine.resume(co, chosen)
    assert(is_ok, problem)
  end)
  local choice = coroutine.yield() ---@type midfill.Choice
  if choice == 'accept' then
    return make(edit, client)
  end
  has_refused = true
  if choice == 'again' then
    vim.schedule(function()
      ask_again(client, change)
    end)
  end
  return { applied = false, failureReason = 'discarded' }
end

return M
