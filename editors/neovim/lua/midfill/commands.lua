--- :Midfill SUBCOMMAND. What the server does not announce says so in one line.
local client_of = require('midfill.client')
local ondemand = require('midfill.ondemand')
local say = require('midfill.say')
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
  fill = 'midfill.fill',
  fill_holes = 'midfill.fillHoles',
  write_test = 'midfill.writeTest',
  docstring = 'midfill.docstring',
  stats = 'midfill.stats',
  models = 'midfill.models',
}

---@type table<string, midfill.Subcommand>
M.subcommands = {}
local commands = M.subcommands

commands.status = {
  about = 'what the server says of itself',
  run = function(client)
    if not client then
      return say.quietly('not running; see :checkhealth midfill')
    end
    local told = status.of(client)
    local state = told.message ~= '' and told.message or told.kind == 'Normal' and 'ready' or told.kind:lower()
    say.quietly(require('midfill.ghost').is_on() and state or state .. '; switched off, :Midfill toggle')
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
    say.quietly(require('midfill').toggle() and 'on' or 'off')
  end,
}

---@param client vim.lsp.Client
---@param command string
local function at_cursor(client, command)
  local argument = vim.tbl_extend('force', ondemand.document(), { position = ondemand.position(client) })
  ondemand.execute(client, command, argument)
end

---@param client vim.lsp.Client
---@param command string
---@param args vim.api.keyset.create_user_command.command_args
---@return fun(instruction?: string) send With an instruction, or nothing if there is none.
local function on_range(client, command, args)
  local range = require('midfill.selection').range(args, client.offset_encoding)
  local argument = vim.tbl_extend('force', ondemand.document(), { range = range })
  return function(instruction)
    argument.instruction = instruction
    ondemand.execute(client, command, argument)
  end
end

commands.fill = {
  about = 'suggest something here and now; with a range, put something else in its place',
  needs_server = true,
  run = function(client, args, instruction)
    if args.range == 0 then
      return require('midfill').fill()
    elseif client_of.knows(client, SERVER.fill) then
      return on_range(client, SERVER.fill, args)(instruction)
    end
    say.complain('fill: this server cannot do that')
  end,
}

commands.draft = {
  about = 'another draft of what was filled here last, or another suggestion',
  needs_server = true,
  run = function(client)
    local is_typing = vim.api.nvim_get_mode().mode:sub(1, 1) == 'i'
    if is_typing and require('midfill').is_shown() or not client_of.knows(client, SERVER.next_draft) then
      return require('midfill').next()
    end
    at_cursor(client, SERVER.next_draft)
  end,
}

commands.rewrite = {
  about = 'rewrite the lines or the selection as told; shown before it is put in',
  server_command = SERVER.rewrite,
  run = function(client, args, instruction)
    local rewrite = on_range(client, SERVER.rewrite, args)
    if instruction ~= '' then
      return rewrite(instruction)
    end
    vim.ui.input({ prompt = 'Rewrite (how, or nothing): ' }, function(told)
      if told then
        rewrite(vim.trim(told))
      end
    end)
  end,
}

commands.holes = {
  about = 'fill all holes of the buffer, or of the range',
  server_command = SERVER.fill_holes,
  run = function(client, args)
    if args.range > 0 then
      return on_range(client, SERVER.fill_holes, args)()
    end
    ondemand.execute(client, SERVER.fill_holes, ondemand.document())
  end,
}

commands.test = {
  about = 'write a test for the function at the cursor',
  server_command = SERVER.write_test,
  run = function(client)
    at_cursor(client, SERVER.write_test)
  end,
}

commands.docstring = {
  about = 'write or complete the docstring of the function at the cursor',
  server_command = SERVER.docstring,
  run = function(client)
    at_cursor(client, SERVER.docstring)
  end,
}

commands.dismiss = {
  about = 'take away what is shown, stop what is being filled',
  run = function()
    local bufnr = vim.api.nvim_get_current_buf()
    require('midfill').dismiss()
    ondemand.stop(bufnr)
    require('midfill.drafts').clear(bufnr)
  end,
}

commands.model = {
  about = 'use another model, by its name or folder, until Neovim ends',
  needs_server = true,
  run = function(client, _, name)
    local models = require('midfill.models')
    if name ~= '' then
      models.use(client, name)
    elseif client_of.knows(client, SERVER.models) then
      ondemand.execute(client, SERVER.models, vim.empty_dict(), function(list)
        models.choose(client, list)
      end)
    else
      say.quietly(('model %s; :Midfill model NAME changes it'):format(client_of.model(client)))
    end
  end,
}

commands.stats = {
  about = 'what came of suggestions',
  server_command = SERVER.stats,
  run = function(client)
    ondemand.execute(client, SERVER.stats, vim.empty_dict(), function(result)
      vim.lsp.util.open_floating_preview(vim.split(result.text, '\n', { plain = true }), '', { border = 'rounded' })
    end)
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
    return say.complain(('no such command: %s'):format(name))
  end
  local client = client_of.any()
  local why_not = refusal(client, subcommand)
  if why_not then
    return say.complain(('%s: %s'):format(name, why_not))
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
