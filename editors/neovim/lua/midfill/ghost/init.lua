--- When ghost text is asked for, shown and taken away. How it is shown is up to one of two variants.
local options = require('midfill.options')
local request = require('midfill.request')

---@class midfill.Ghost A way to show ghost text. Buffers are those of `attach`; only the current one shows any.
---@field attach fun(client: vim.lsp.Client, bufnr: integer)
---@field detach fun(bufnr: integer)
---@field show fun(bufnr: integer, items: lsp.InlineCompletionItem[], context: lsp.HandlerContext) At the cursor.
---@field settle fun(bufnr: integer) The cursor has moved or the text is another: take away what does not fit any more.
---@field clear fun(bufnr: integer)
---@field is_shown fun(bufnr: integer): boolean
---@field accept fun(bufnr: integer, portion: midfill.Portion): boolean Whether there was something.
---@field count fun(bufnr: integer): integer
---@field select fun(bufnr: integer, count: integer) Only if there is something to select from.

local M = {}

---@type table<integer, {client: vim.lsp.Client, variant: midfill.Ghost}> By buffer.
local attached = {}
local is_on = true

---@return 'builtin'|'own'
function M.variant_name()
  local has_builtin = vim.lsp.inline_completion ~= nil
  return options.current.ghost ~= 'own' and has_builtin and 'builtin' or 'own'
end

---@param bufnr integer
local function announce(bufnr)
  vim.schedule(function()
    local data = { bufnr = bufnr, is_shown = M.is_shown(bufnr) }
    vim.api.nvim_exec_autocmds('User', { pattern = 'MidfillGhost', modeline = false, data = data })
  end)
end

---@param bufnr integer
---@param kind midfill.Kind
---@param on_shown? fun()
local function ask(bufnr, kind, on_shown)
  local place = attached[bufnr]
  if not place then
    return
  end
  request.ask(place.client, bufnr, kind, function(items, context)
    place.variant.show(bufnr, items, context)
    announce(bufnr)
    if on_shown then
      on_shown()
    end
  end)
end

--- Bring what is shown up to date with the text and the cursor.
---@param bufnr integer
function M.refresh(bufnr)
  local place = attached[bufnr]
  if not place or not is_on or vim.fn.pumvisible() == 1 then
    return
  end
  place.variant.settle(bufnr)
  -- Later, because InsertEnter comes before insert mode.
  vim.schedule(function()
    if not request.is_asked(bufnr) then
      ask(bufnr, request.KIND.AUTOMATIC)
    end
  end)
end

--- Take away what is shown and what may be to come.
---@param bufnr integer
function M.clear(bufnr)
  local place = attached[bufnr]
  if place then
    request.forget(place.client, bufnr)
    place.variant.clear(bufnr)
    announce(bufnr)
  end
end

---@param bufnr integer
local function make_autocmds(bufnr)
  local group = vim.api.nvim_create_augroup('midfill.ghost.' .. bufnr, {})
  ---@param events string[]
  ---@param callback fun()
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  on({ 'InsertEnter', 'CursorMovedI', 'CompleteDone' }, function()
    M.refresh(bufnr)
  end)
  on({ 'CompleteChanged', 'BufLeave' }, function()
    M.clear(bufnr)
  end)
  -- <C-c> leaves insert mode without InsertLeave.
  on({ 'ModeChanged' }, function()
    if vim.v.event.old_mode:sub(1, 1) == 'i' and vim.v.event.new_mode:sub(1, 1) ~= 'i' then
      M.clear(bufnr)
    end
  end)
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  if client.server_capabilities.inlineCompletionProvider == nil then
    return
  end
  M.detach(bufnr)
  local variant = require('midfill.ghost.' .. M.variant_name())
  attached[bufnr] = { client = client, variant = variant }
  variant.attach(client, bufnr)
  make_autocmds(bufnr)
  M.refresh(bufnr)
end

---@param bufnr integer
---@param client? vim.lsp.Client Only from this one: another may have taken its place.
function M.detach(bufnr, client)
  local place = attached[bufnr]
  if place and (not client or client.id == place.client.id) then
    vim.api.nvim_del_augroup_by_name('midfill.ghost.' .. bufnr)
    request.forget(place.client, bufnr)
    attached[bufnr] = nil
    place.variant.detach(bufnr)
  end
end

---@param bufnr integer
---@return boolean
function M.is_shown(bufnr)
  local place = attached[bufnr]
  return place ~= nil and place.variant.is_shown(bufnr)
end

--- Accept what is shown, or the first part of it.
---@param bufnr integer
---@param portion midfill.Portion
---@return boolean has_accepted
function M.accept(bufnr, portion)
  local place = attached[bufnr]
  local has_accepted = place ~= nil and place.variant.accept(bufnr, portion)
  if has_accepted then
    announce(bufnr)
  end
  return has_accepted
end

--- Show another suggestion; the server is asked for more if it has given only one.
---@param bufnr integer
---@param count integer How many further.
function M.select(bufnr, count)
  local place = attached[bufnr]
  if not place then
    return
  end
  local function move()
    if place.variant.count(bufnr) > 1 then
      place.variant.select(bufnr, count)
      announce(bufnr)
    end
  end
  if place.variant.count(bufnr) > 1 then
    move()
  else
    ask(bufnr, request.KIND.INVOKED, move)
  end
end

--- Ask for the best there is: the server takes more time and gives several.
---@param bufnr integer
function M.ask(bufnr)
  ask(bufnr, request.KIND.INVOKED)
end

--- Take away what is shown until the text or the cursor is another.
---@param bufnr integer
---@return boolean has_dismissed
function M.dismiss(bufnr)
  local place = attached[bufnr]
  local was_shown = M.is_shown(bufnr)
  if place then
    request.drop(place.client, bufnr)
    place.variant.clear(bufnr)
    announce(bufnr)
  end
  return was_shown
end

---@return boolean
function M.is_on()
  return is_on
end

---@param value boolean
function M.set_on(value)
  is_on = value
  for bufnr in pairs(attached) do
    M.clear(bufnr)
    M.refresh(bufnr)
  end
end

return M
