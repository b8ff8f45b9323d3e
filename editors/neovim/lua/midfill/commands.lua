--- :Midfill SUBCOMMAND. What the server does not announce says so in one line.
local client_of = require('midfill.client')
local status = require('midfill.status')

local M = {}

---@class midfill.Subcommand
---@field about string
---@field run fun(client: vim.lsp.Client?, args: vim.api.keyset.create_user_command.command_args, rest: string)
---@field server_command? string It is nothing without this command of the server.
---@field needs_server? boolean

--- The server's commands. Which of them it has is told when it starts.
local SERVER = {
  next_draft = 'midfill.nextDraft',
  rewrite = 'midfill.rewrite',
  fill_holes = 'midfill.fillHoles',
  stats = 'midfill.stats',
  models = 'midfill.models',
}

---@param text string
local function say(text)
  vim.api.nvim_echo({ { 'midfill: ' .. text } }, true, {})
end

---@param text string
local function complain(text)
  vim.notify('midfill: ' .. text, vim.log.levels.WARN)
end

--- What came of a command that fills: the edit, if the server has left it to us, and its message.
---@param client vim.lsp.Client
---@param result { applied: boolean, message?: string, edit?: lsp.WorkspaceEdit, inline?: boolean }
local function take_outcome(client, result)
  if not result.applied and type(result.edit) == 'table' then
    vim.lsp.util.apply_workspace_edit(result.edit, client.offset_encoding)
  end
  if type(result.message) == 'string' and result.message ~= '' then
    say(result.message)
  end
  if result.inline == true then
    require('midfill').fill()
  end
end

--- Have the server carry out a command. An edit among its results is made; otherwise the result is handed on.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param on_result? fun(result: any)
local function execute(client, command, argument, on_result)
  local bufnr = vim.api.nvim_get_current_buf()
  local params = { command = command, arguments = { argument } }
  client:request('workspace/executeCommand', params, function(problem, result)
    if problem then
      complain(problem.message)
    elseif type(result) == 'table' and (result.changes or result.documentChanges) then
      vim.lsp.util.apply_workspace_edit(result, client.offset_encoding)
    elseif type(result) == 'table' and type(result.applied) == 'boolean' then
      take_outcome(client, result)
    elseif on_result then
      on_result(result)
    end
  end, bufnr)
end

---@return { textDocument: lsp.VersionedTextDocumentIdentifier }
local function this_document()
  local document = vim.lsp.util.make_text_document_params(0) --[[@as lsp.VersionedTextDocumentIdentifier]]
  document.version = vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
  return { textDocument = document }
end

---@type table<string, midfill.Subcommand>
M.subcommands = {}
local commands = M.subcommands

commands.status = {
  about = 'what the server says of itself',
  run = function(client)
    if not client then
      return say('not running; see :checkhealth midfill')
    end
    local told = status.of(client)
    local state = told.message ~= '' and told.message or told.kind == 'Normal' and 'ready' or told.kind:lower()
    say(require('midfill.ghost').is_on() and state or state .. '; switched off, :Midfill toggle')
  end,
}

commands.log = {
  about = "open Neovim's log of language servers, where the server's is",
  run = function()
    local get = vim.lsp.log and vim.lsp.log.get_filename or vim.lsp.get_log_path
    vim.cmd.tabedit({ args = { vim.fn.fnameescape(get()) } })
    vim.cmd.normal({ args = { 'G' }, bang = true })
  end,
}

commands.restart = {
  about = 'start the server anew',
  run = function()
    local running = vim.lsp.get_clients({ name = client_of.NAME })
    vim.lsp.enable(client_of.NAME, false)
    for _, one in ipairs(running) do
      one:stop()
    end
    -- Enabling it while the old one is leaving would attach the buffers to that one again.
    local deadline = vim.uv.now() + 5000
    local function start_again()
      local has_left = vim.iter(running):all(function(one)
        return one:is_stopped()
      end)
      if has_left or vim.uv.now() > deadline then
        vim.lsp.enable(client_of.NAME)
      else
        vim.defer_fn(start_again, 20)
      end
    end
    start_again()
  end,
}

commands.toggle = {
  about = 'suggest nothing any more, or again',
  run = function()
    say(require('midfill').toggle() and 'on' or 'off')
  end,
}

commands.fill = {
  about = 'suggest something here and now',
  needs_server = true,
  run = function()
    require('midfill').fill()
  end,
}

commands.draft = {
  about = 'show another suggestion',
  needs_server = true,
  run = function(client)
    if not client_of.knows(client, SERVER.next_draft) then
      return require('midfill').next()
    end
    local position = vim.lsp.util.make_position_params(0, client.offset_encoding).position
    local argument = vim.tbl_extend('force', this_document(), { position = position })
    execute(client, SERVER.next_draft, argument, require('midfill').fill)
  end,
}

---@param client vim.lsp.Client
---@param name string
local function use_model(client, name)
  client_of.configure(client, { preset = name })
  say('model ' .. name)
end

---@param client vim.lsp.Client
---@param models any What the server lists: tables with a name and more.
local function choose_model(client, models)
  vim.ui.select(models or {}, {
    prompt = 'Model',
    format_item = function(model)
      local told = vim.iter({ model.name, model.size, model.licence, model.fit })
      return told:filter(function(text)
        return type(text) == 'string' and text ~= ''
      end):join(' · ')
    end,
  }, function(model)
    if model then
      use_model(client, model.name)
    end
  end)
end

commands.model = {
  about = 'use another model, by its name or folder, until Neovim ends',
  needs_server = true,
  run = function(client, _, name)
    if name ~= '' then
      use_model(client, name)
    elseif client_of.knows(client, SERVER.models) then
      execute(client, SERVER.models, vim.empty_dict(), function(models)
        choose_model(client, models)
      end)
    else
      local preset = vim.tbl_get(client.settings, client_of.NAME, 'preset') or "the server's default"
      say(('model %s; :Midfill model NAME changes it'):format(preset))
    end
  end,
}

commands.stats = {
  about = 'what came of suggestions',
  server_command = SERVER.stats,
  run = function(client)
    execute(client, SERVER.stats, this_document(), function(result)
      say(type(result) == 'table' and result.text or result)
    end)
  end,
}

commands.rewrite = {
  about = 'rewrite the lines or the selection as told',
  server_command = SERVER.rewrite,
  run = function(client, args, instruction)
    local range = require('midfill.selection').range(args, client.offset_encoding)
    local document = this_document()
    ---@param told? string
    local function rewrite(told)
      if told and told ~= '' then
        local argument = vim.tbl_extend('force', document, { range = range, instruction = told })
        execute(client, SERVER.rewrite, argument)
      end
    end
    if instruction ~= '' then
      rewrite(instruction)
    else
      vim.ui.input({ prompt = 'Rewrite: ' }, rewrite)
    end
  end,
}

commands.holes = {
  about = 'fill all holes of the buffer',
  server_command = SERVER.fill_holes,
  run = function(client)
    execute(client, SERVER.fill_holes, this_document())
  end,
}

---@param client? vim.lsp.Client
---@param subcommand midfill.Subcommand
---@return string? Why it cannot be run.
local function refusal(client, subcommand)
  if not (subcommand.needs_server or subcommand.server_command) then
    return nil
  end
  if not client then
    return 'no server for this buffer; see :checkhealth midfill'
  end
  if subcommand.server_command and not client_of.knows(client, subcommand.server_command) then
    return 'this server cannot do that'
  end
  return nil
end

---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local name = args.fargs[1] or 'status'
  local subcommand = M.subcommands[name]
  if not subcommand then
    return complain(('no such command: %s'):format(name))
  end
  local client = client_of.any()
  local why_not = refusal(client, subcommand)
  if why_not then
    return complain(('%s: %s'):format(name, why_not))
  end
  subcommand.run(client, args, vim.trim(args.args:sub(#name + 1)))
end

--- Complete with the subcommands that can be run now.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  if line:match('^%S*Midfill%s+%S+%s') then
    return {}
  end
  local client = client_of.any()
  local names = vim.iter(pairs(M.subcommands)):filter(function(name, subcommand)
    return vim.startswith(name, lead) and refusal(client, subcommand) == nil
  end)
  local found = names:map(function(name)
    return name
  end):totable()
  table.sort(found)
  return found
end

return M
